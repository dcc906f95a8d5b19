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
#include "workloads/trace_rows.hpp"
#include "workloads/trace_statistics.hpp"

namespace inferometer {
namespace {

/// Block hashes of our writer's Mooncake files stand for so many tokens.
constexpr std::int64_t kMooncakeBlockTokens = 512;

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

/// What the file written cannot hold, to standard error.
class Losses {
 public:
  Losses(TraceFileKind kind, std::int64_t hash_block_tokens)
      : kind_(kind),
        drops_hashes_(kind == TraceFileKind::inferometer_csv || hash_block_tokens != kMooncakeBlockTokens) {}

  void prepare(Request& request) {
    if (drops_hashes_ && !request.block_hashes.empty()) {
      hashes_ = true;
      request.block_hashes.clear();
    }
    if (kind_ == TraceFileKind::mooncake) {
      limits_ = limits_ || request.max_new != request.output;
      classes_ = classes_ || request.service_class != 0;
    }
  }

  void print() const {
    if (hashes_ && kind_ == TraceFileKind::inferometer_csv) {
      std::fprintf(stderr, "left out: block hashes (--to mooncake keeps those of 512 tokens)\n");
    } else if (hashes_) {
      std::fprintf(stderr, "left out: block hashes (a Mooncake trace has blocks of 512 tokens)\n");
    }
    if (limits_) {
      std::fprintf(stderr, "left out: max_new_tokens (a Mooncake trace has no such member)\n");
    }
    if (classes_) {
      std::fprintf(stderr, "left out: class (a Mooncake trace has no such member)\n");
    }
  }

 private:
  TraceFileKind kind_;
  bool drops_hashes_;
  bool hashes_ = false;
  bool limits_ = false;
  bool classes_ = false;
};

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
  Losses losses(kind, trace->hash_block_tokens());
  Request request;
  std::int64_t count = 0;
  for (; trace->next_arrival(); ++count) {
    trace->take(request);
    losses.prepare(request);
    writer->add(request);
  }
  writer->finish();
  losses.print();
  print_skipped_lines(*trace);
  const std::string text =
      fmt::format("{}: {} requests, from {} to {}\n", given.output, count, trace->format(), given.kind);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void add_inspect(CLI::App& parent) {
  const auto options = std::make_shared<InspectOptions>();
  CLI::App* command =
      parent.add_subcommand("inspect", "Rates, burstiness, lengths and prefix reuse of a trace");
  command->add_option("file", options->file, "Trace in any format we read, plain or .gz")->required();
  add_trace_reading_options(*command, options->reading);
  command->add_flag("--json", options->json, "The same as JSON");
  command->callback([options] { run_inspect(*options); });
}

void add_convert(CLI::App& parent) {
  const auto options = std::make_shared<ConvertOptions>();
  CLI::App* command = parent.add_subcommand("convert", "Writes a trace in our CSV or as Mooncake JSON lines");
  command->add_option("input", options->input, "Trace in any format we read, plain or .gz")->required();
  command->add_option("output", options->output, "File to write; compressed when its name ends in .gz")
      ->required();
  command->add_option("--to", options->kind, "inferometer or mooncake")->capture_default_str();
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
