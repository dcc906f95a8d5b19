#include "sim/router/needed_data.hpp"

#include <filesystem>
#include <memory>

#include "base/config/path_text.hpp"
#include "workloads/workload_config.hpp"

namespace inferometer {

bool any_of_trace_has(const Values& workload, const std::function<bool(const Request&)>& has) {
  constexpr std::uint64_t kAnySeed = 1;  // of arrivals that a trace leaves open
  const std::string directory = directory_of(workload, "trace");
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(std::filesystem::path(directory) / workload.text("trace"), ignored)) {
    return true;
  }
  const std::unique_ptr<Workload> trace = make_workload(workload, kAnySeed, directory);
  Request request;
  while (trace->next_arrival()) {
    trace->take(request);
    if (has(request)) {
      return true;
    }
  }
  return false;
}

std::string missing_shared_prefixes(const Values& workload) {
  if (workload.given("shared_prefix") || workload.given("sessions")) {
    return "";
  }
  if (!workload.given("trace")) {
    return "generated prompts have nothing in common, unless workload.shared_prefix or workload.sessions is "
           "given";
  }
  const bool has_any =
      any_of_trace_has(workload, [](const Request& request) { return !request.content.empty(); });
  return has_any ? "" : "no request of the trace says what its prompt consists of";
}

}  // namespace inferometer
