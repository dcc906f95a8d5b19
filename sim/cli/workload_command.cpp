#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/workload_generate.hpp"
#include "sim/cli/workload_options.hpp"
#include "sim/cli/workload_report.hpp"
#include "sim/cli/workload_writing.hpp"
#include "workloads/trace_rows.hpp"
#include "workloads/trace_statistics.hpp"

namespace inferometer {
namespace {

struct InspectOptions {
  std::string file;
  TraceReadingOptions reading;
  bool json = false;
};

struct ConvertOptions {
  std::string input;
  std::string output;
  TraceReadingOptions reading;
  std::string kind = "inferometer";
  std::string rate;
  std::int64_t seed = 1;
  bool sort = false;
};

void run_inspect(const InspectOptions& given) {
  TraceOptions options = trace_options(given.reading);
  TraceRows rows(LineSource(open_bytes(given.file), given.file));
  WorkloadReport report;
  report.file = given.file;
  report.has_times = rows.format().has_times;
  if (!report.has_times) {
    if (!given.reading.window.empty() || !given.reading.rate_scale.empty()) {
      throw ConfigError(Position{given.file},
                        "--window and --rate-scale need a trace with times; this one has lengths only");
    }
    options.rate = PerSecond(1);  // reading asks for one; the report leaves arrivals out
  }
  const std::unique_ptr<TraceWorkload> trace = open_trace(std::move(rows), options);
  report.format = trace->format();
  report.hash_block_tokens = trace->hash_block_tokens();
  report.statistics = gather_statistics(*trace, report.hash_block_tokens);
  report.skipped_lines = trace->skipped_lines();
  print_skipped_lines(*trace);
  const std::string text = given.json ? workload_json(report) : workload_text(report);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void run_convert(const ConvertOptions& given) {
  TraceOptions options = trace_options(given.reading);
  const TraceFileKind kind = read_trace_kind(given.kind);
  options.sort = given.sort;
  if (given.seed < 0) {
    throw ConfigError(Position{"--seed"}, fmt::format("expected 0 or more, found {}", given.seed));
  }
  options.seed = static_cast<std::uint64_t>(given.seed);
  if (!given.rate.empty()) {
    options.rate = read_rate_option("--rate", given.rate);
  }
  const std::unique_ptr<TraceWorkload> trace = open_trace(given.input, options);
  const std::unique_ptr<TraceWriter> writer = open_trace_writer(given.output, kind);
  const std::int64_t count = write_requests(*trace, *writer, kind);
  print_skipped_lines(*trace);
  const std::string text =
      fmt::format("{}: {} requests, from {} to {}\n", given.output, count, trace->format(), given.kind);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void add_inspect(CLI::App& parent) {
  const auto options = std::make_shared<InspectOptions>();
  CLI::App* command =
      parent.add_subcommand("inspect", "Rates, burstiness, lengths, sessions and prefix reuse of a trace");
  command->add_option("file", options->file, "Trace in any format we read, plain or .gz")->required();
  add_trace_reading_options(*command, options->reading);
  command->add_flag("--json", options->json, "The same as JSON");
  command->callback([options] { run_inspect(*options); });
}

void add_convert(CLI::App& parent) {
  const auto options = std::make_shared<ConvertOptions>();
  CLI::App* command = parent.add_subcommand("convert", "Writes a trace in our CSV or as JSON lines");
  command->add_option("input", options->input, "Trace in any format we read, plain or .gz")->required();
  command->add_option("output", options->output, "File to write; compressed when its name ends in .gz")
      ->required();
  command->add_option("--to", options->kind, kTraceKinds)->capture_default_str();
  command->add_flag("--sort", options->sort,
                    "Put requests in order of time first (takes memory for all of them)");
  add_trace_reading_options(*command, options->reading);
  command->add_option("--rate", options->rate,
                      "Poisson arrivals for a trace without times, such as \"12 req/s\"");
  command->add_option("--seed", options->seed, "For --rate")->capture_default_str();
  command->callback([options] { run_convert(*options); });
}

}  // namespace

void add_workload_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("workload", "What is in a trace; converts and generates traces");
  command->require_subcommand(1);
  add_inspect(*command);
  add_convert(*command);
  add_workload_generate(*command);
}

}  // namespace inferometer
