#include "workloads/workload_config.hpp"

#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "workloads/generated_workload.hpp"
#include "workloads/generator_config.hpp"
#include "workloads/presets.hpp"
#include "workloads/sharing_config.hpp"
#include "workloads/trace_reader.hpp"

namespace inferometer {

namespace {

void check_one_source(const Values& section, Diagnostics& diagnostics) {
  std::vector<std::string> found;
  Position where = section.where();
  for (const char* key : {"preset", "trace", "generator"}) {
    if (section.given(key)) {
      found.emplace_back(key);
      where = section.where(key);
    }
  }
  if (found.size() == 1) {
    return;
  }
  const std::string what = found.empty() ? "none" : fmt::format("{}", fmt::join(found, " and "));
  diagnostics.add(where, fmt::format("expected exactly one of preset, trace and generator, found {}", what));
}

std::unique_ptr<Workload> from_preset(const Values& section, std::uint64_t seed, Diagnostics& diagnostics) {
  const MaxNewRule max_new = make_max_new_rule(section, diagnostics);
  check_traffic_duration(section, diagnostics);
  diagnostics.throw_if_any();
  const Preset preset = load_preset(section.text("preset"));
  const std::int64_t requests = section.count("requests");
  LengthSampler lengths(preset.prompt, preset.output, preset.length_correlation, seed);
  RequestBodies bodies(std::move(lengths), max_new);
  share_and_divide(section, seed, bodies, diagnostics);
  diagnostics.throw_if_any();
  return make_generated_workload(
      make_gamma_arrivals({section.rate("rate"), preset.burstiness, requests}, seed), std::move(bodies),
      requests);
}

std::unique_ptr<Workload> from_trace(const Values& section, std::uint64_t seed,
                                     const std::string& base_directory, Diagnostics& diagnostics) {
  TraceOptions options;
  options.rate_scale = section.number("rate_scale");
  options.window_start = section.duration("window_start");
  if (section.given("window_end")) {
    options.window_end = section.duration("window_end");
    if (*options.window_end <= *options.window_start) {
      diagnostics.add(section.where("window_end"), "expected window_end after window_start");
    }
  }
  if (section.given("requests")) {
    options.limit = section.count("requests");
  }
  if (section.given("max_new_tokens")) {
    options.max_new = TokenCount(section.count("max_new_tokens"));
  }
  if (section.given("rate")) {
    options.rate = section.rate("rate");
  }
  if (section.given("block_size")) {
    options.hash_block_tokens = section.count("block_size");
  }
  options.seed = seed;
  options.skip_bad_lines = section.flag("skip_bad_lines");
  diagnostics.throw_if_any();
  // An absolute path replaces the folder.
  const std::filesystem::path path =
      (std::filesystem::path(base_directory) / section.text("trace")).lexically_normal();
  try {
    return open_trace(path.string(), options);
  } catch (const InputError& error) {
    // What is wrong with the file as a whole is reported where the scenario names it.
    const Diagnostic& fault = error.diagnostics().front();
    if (fault.where.line > 0) {
      throw;
    }
    throw TraceError(section.where("trace"), "trace: " + to_string(fault.where) + ": " + fault.message);
  }
}

}  // namespace

std::unique_ptr<Workload> make_workload(const Values& section, std::uint64_t seed,
                                        const std::string& base_directory) {
  Diagnostics diagnostics;
  check_one_source(section, diagnostics);
  diagnostics.throw_if_any();
  if (section.given("preset")) {
    return from_preset(section, seed, diagnostics);
  }
  if (section.given("trace")) {
    return from_trace(section, seed, base_directory, diagnostics);
  }
  return make_generator(section, seed, diagnostics);
}

}  // namespace inferometer
