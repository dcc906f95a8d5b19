#include "sim/router/needed_data.hpp"

#include <filesystem>
#include <memory>

#include "base/config/path_text.hpp"
#include "base/error.hpp"
#include "workloads/workload_config.hpp"

namespace inferometer {
namespace {

constexpr std::uint64_t kAnySeed = 1;              // what requests have does not depend on when they come
constexpr std::int64_t kGeneratedLookedAt = 1000;  // a mixture shows all its parts by then; it may never end

/// Null when it cannot be made.
std::unique_ptr<Workload> try_to_make(const Values& workload) {
  const bool is_trace = workload.given("trace");
  const std::string directory = is_trace ? directory_of(workload, "trace") : "";
  std::error_code ignored;
  if (is_trace &&
      !std::filesystem::is_regular_file(std::filesystem::path(directory) / workload.text("trace"), ignored)) {
    return nullptr;
  }
  try {
    return make_workload(workload, kAnySeed, directory);
  } catch (const ConfigError&) {
    return nullptr;
  }
}

}  // namespace

bool any_request_has(const Values& workload, const std::function<bool(const Request&)>& has) {
  const std::unique_ptr<Workload> requests = try_to_make(workload);
  if (!requests) {
    return true;
  }
  const bool is_trace = workload.given("trace");
  Request request;
  for (std::int64_t i = 0; requests->next_arrival() && (is_trace || i < kGeneratedLookedAt); ++i) {
    requests->take(request);
    if (has(request)) {
      return true;
    }
  }
  return false;
}

std::string no_request_of(const Values& workload) {
  return workload.given("trace") ? "no request of the trace" : "no generated request";
}

std::string missing_shared_prefixes(const Values& workload) {
  const bool has_any =
      any_request_has(workload, [](const Request& request) { return !request.content.empty(); });
  return has_any ? "" : no_request_of(workload) + " says what its prompt consists of";
}

}  // namespace inferometer
