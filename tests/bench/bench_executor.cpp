// What a question costs that is answered by another process, and how work scales with processes.
//
// usage: bench_executor [QUESTIONS]            with one worker process and with two
//        mpirun -n RANKS bench_executor        with the ranks of the job

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <string>
#include <thread>

#include "sim/study/executor/executor.hpp"
#include "sim/study/executor/own_process.hpp"

namespace inferometer {
namespace {

constexpr std::chrono::seconds kPatience{60};
constexpr double kWorkMs = 20;

const std::string kNothing = "nothing";
const std::string kLarge = "large";
const std::string kOwnProcess = "own process";
const std::string kSpin = "spin";
const std::string kSleep = "sleep";

double milliseconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

std::string evaluate(const std::string& question) {
  constexpr std::size_t kLargeBytes = 100'000;
  if (question == kLarge) {
    return std::string(kLargeBytes, 'x');
  }
  if (question == kOwnProcess) {
    return in_own_process([] { return std::string(); });
  }
  if (question == kSpin) {
    // Of processor time: so much work, whatever else the machine does.
    const double end = milliseconds_of(CLOCK_PROCESS_CPUTIME_ID) + kWorkMs;
    while (milliseconds_of(CLOCK_PROCESS_CPUTIME_ID) < end) {
    }
  }
  if (question == kSleep) {
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(kWorkMs));
  }
  return "";
}

/// Milliseconds that so many questions take, `in_line` of them at a time.
double time_of(Executor& executor, const std::string& question, int count, int in_line) {
  const double begin = milliseconds_of(CLOCK_MONOTONIC);
  int submitted = 0;
  for (int answered = 0; answered < count; ++answered) {
    while (submitted < count && submitted < answered + in_line) {
      executor.submit(submitted++, question);
    }
    if (!executor.wait(kPatience)) {
      std::fprintf(stderr, "no answer came\n");
      std::exit(1);
    }
  }
  return milliseconds_of(CLOCK_MONOTONIC) - begin;
}

void measure(Executor& executor, int questions) {
  constexpr int kFewer = 10;
  const auto each_us = [&](const std::string& question, int in_line) {
    return time_of(executor, question, questions, in_line) / questions * 1e3;
  };
  const int works = questions / kFewer;
  std::printf("%lld at a time\n", static_cast<long long>(executor.slots()));
  std::printf("  nothing to do, one after the other      %8.1f us a question\n", each_us(kNothing, 1));
  std::printf("  nothing to do, all in line              %8.1f us a question\n",
              each_us(kNothing, questions));
  std::printf("  answers of 100 kB, all in line          %8.1f us a question\n", each_us(kLarge, questions));
  std::printf("  a process for each, all in line         %8.1f us a question\n",
              each_us(kOwnProcess, questions));
  for (const std::string& work : {kSpin, kSleep}) {
    std::printf("  %.0f ms of %-26s  %8.2f done at a time\n", kWorkMs,
                work == kSpin ? "processor time, all in line" : "sleep, all in line",
                works * kWorkMs / time_of(executor, work, works, works));
  }
}

}  // namespace
}  // namespace inferometer

int main(int count, char** words) {
  constexpr int kQuestions = 2000;
  const int questions = count > 1 ? std::atoi(words[1]) : kQuestions;
  const int most = inferometer::is_mpi_job() ? 1 : 2;
  try {
    for (int jobs = 1; jobs <= most; ++jobs) {
      inferometer::with_executor({jobs, ""}, inferometer::evaluate, [&](inferometer::Executor& executor) {
        inferometer::measure(executor, questions);
      });
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
