// A study of nothing, to be killed by check_executor.py: questions that take a while, a journal, a file of
// results.
//
// usage: slow_study JOURNAL RESULT LOG QUESTIONS MILLISECONDS JOBS [OPTION...]
//   own      each question has a process of its own
//   full     as if the journal's disk were full: files may not grow beyond 400 KiB
//   version=TEXT  what ranks must have alike
//
// LOG gets a line for each evaluation that begins. Exit code 0: RESULT is written; 1: questions failed, with
// a line each on stderr; 2: ConfigError.

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "sim/study/executor/executor.hpp"
#include "sim/study/executor/journal.hpp"
#include "sim/study/executor/own_process.hpp"

namespace inferometer {
namespace {

struct Arguments {
  std::string journal;
  std::string result;
  std::string log;
  int questions = 0;
  std::chrono::milliseconds each{};
  ExecutorOptions executor;
  bool has_own_processes = false;
};

void note_beginning(const std::string& log, const std::string& question) {
  const int file = open(log.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0644);
  const std::string line = question + "\n";
  static_cast<void>(!write(file, line.data(), line.size()));
  close(file);
}

/// Most answers are short, some longer than a socket holds.
std::string answer_to(const std::string& question) {
  const int number = std::atoi(question.c_str());
  const int words = number % 10 == 0 ? 30000 : 3;
  std::uint64_t state = static_cast<std::uint64_t>(number) + 1;
  std::string answer;
  for (int i = 0; i < words; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    answer += std::to_string(state >> 33U) + (i % 7 == 6 ? "\n" : "\t");
  }
  return answer;
}

std::string evaluate(const Arguments& arguments, const std::string& question) {
  note_beginning(arguments.log, question);
  const auto work = [&] {
    std::this_thread::sleep_for(arguments.each);
    return answer_to(question);
  };
  return arguments.has_own_processes ? in_own_process(work) : work();
}

int study(const Arguments& arguments, Executor& executor) {
  Journal journal(arguments.journal, false);
  int to_come = 0, failed = 0;
  for (int number = 0; number < arguments.questions; ++number) {
    const std::string question = std::to_string(number);
    if (journal.find(question) == nullptr) {
      executor.submit(number, question);
      ++to_come;
    }
  }
  std::printf("%d to evaluate, %d known\n", to_come, arguments.questions - to_come);
  while (to_come > 0) {
    const auto answer = executor.wait(std::chrono::milliseconds(100));
    if (!answer) {
      continue;
    }
    --to_come;
    const std::string question = std::to_string(answer->ticket);
    if (answer->failure.empty()) {
      journal.append(question, answer->text);
    } else {
      std::fprintf(stderr, "question %s: %s\n", question.c_str(), answer->failure.c_str());
      ++failed;
    }
  }
  if (failed > 0) {
    return 1;
  }
  std::string result;
  for (int number = 0; number < arguments.questions; ++number) {
    result += std::to_string(number) + " " + *journal.find(std::to_string(number)) + "\n";
  }
  write_file(arguments.result, result);
  return 0;
}

Arguments parse(const std::vector<std::string>& words) {
  Arguments arguments;
  arguments.journal = words.at(0);
  arguments.result = words.at(1);
  arguments.log = words.at(2);
  arguments.questions = std::stoi(words.at(3));
  arguments.each = std::chrono::milliseconds(std::stoi(words.at(4)));
  arguments.executor.jobs = std::stoi(words.at(5));
  for (std::size_t i = 6; i < words.size(); ++i) {
    constexpr std::string_view kVersion = "version=";
    if (words[i] == "own") {
      arguments.has_own_processes = true;
    } else if (words[i] == "full") {
      constexpr rlim_t kMost = 400 * 1024;
      const rlimit limit{kMost, kMost};
      setrlimit(RLIMIT_FSIZE, &limit);
      std::signal(SIGXFSZ, SIG_IGN);
    } else if (words[i].starts_with(kVersion)) {
      arguments.executor.fingerprint = words[i].substr(kVersion.size());
    }
  }
  return arguments;
}

int run(const std::vector<std::string>& words) {
  const Arguments arguments = parse(words);
  int code = 0;
  with_executor(
      arguments.executor, [&](const std::string& question) { return evaluate(arguments, question); },
      [&](Executor& executor) { code = study(arguments, executor); });
  return code;
}

}  // namespace
}  // namespace inferometer

int main(int count, char** words) {
  try {
    return inferometer::run({words + 1, words + count});
  } catch (const inferometer::ConfigError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
