// The program `inferometer`: chooses the command, and turns what goes wrong into a message and an exit code.
// 0: done, 1: the answer could not be written or not held in memory, 2: the user's mistake, 3: a plan has no
// answer, 70: our mistake (as in sysexits.h), 130: ended by Ctrl-C.

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <string>

#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/usage_error.hpp"
#include "sim/scenario/load_plugin.hpp"

namespace inferometer {
namespace {

constexpr int kExitNotWritten = 1;
constexpr int kExitOutOfMemory = 1;
constexpr int kExitUserMistake = 2;
constexpr int kExitInternalError = 70;

void add_commands(CLI::App& app) {
  app.set_version_flag("--version", "inferometer " INFEROMETER_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  add_run_command(app);
  add_compare_command(app);
  add_plan_command(app);
  add_memory_command(app);
  add_roofline_command(app);
  add_workload_command(app);
  add_calibrate_command(app);
  add_validate_command(app);
  add_describe_command(app);
}

/// A full disk shows only when the buffers are written out.
int finish_output() {
  std::cout.flush();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout) {
    std::fprintf(stderr, "error: cannot write to standard output: %s\n", std::strerror(errno));
    return kExitNotWritten;
  }
  return 0;
}

int run_program(CLI::App& app, int argc, char** argv) {
  try {
    add_commands(app);
    refuse_numbers_too_large(app);
    app.parse(argc, argv);
    return finish_output();
  } catch (const CLI::Success& help_or_version) {
    app.exit(help_or_version, std::cout, std::cerr);
    return finish_output();
  } catch (const CLI::RuntimeError& chosen_exit_code) {
    const int unwritten = finish_output();
    return unwritten != 0 ? unwritten : chosen_exit_code.get_exit_code();
  } catch (const CLI::ParseError& mistake) {
    std::fprintf(stderr, "error: %s\n", describe_usage_error(app, mistake).c_str());
    return kExitUserMistake;
  } catch (const InputError& mistakes) {
    for (const Diagnostic& mistake : mistakes.diagnostics()) {
      const std::string where = to_string(mistake.where);
      std::fprintf(stderr, "error: %s%s%s\n", where.c_str(), where.empty() ? "" : ": ",
                   mistake.message.c_str());
    }
    return kExitUserMistake;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "error: out of memory; fewer requests or shorter sequences need less\n");
    return kExitOutOfMemory;
  } catch (const std::exception& bug) {
    std::fprintf(stderr, "internal error: %s\n", bug.what());
    for (const std::string& plugin : loaded_plugins()) {
      std::fprintf(stderr, "note: %s was loaded; the mistake may be there\n", plugin.c_str());
    }
    return kExitInternalError;
  }
}

}  // namespace
}  // namespace inferometer

int main(int argc, char** argv) {
  // A reader that has seen enough (`| head`) ends us quietly, also where the parent process ignores the
  // signal.
  std::signal(SIGPIPE, SIG_DFL);
  // A file that grows over the limit of `ulimit -f` is an error like a full disk, with a message.
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App app("Replays LLM request traffic through a model of a serving engine on GPUs.", "inferometer");
  return inferometer::run_program(app, argc, argv);
}
