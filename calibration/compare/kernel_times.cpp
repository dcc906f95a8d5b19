#include "calibration/compare/kernel_times.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/quantile.hpp"
#include "base/suggest.hpp"

namespace inferometer {
namespace {

std::string library_of(const MeasurementHeader& header) {
  return header.library + (header.library_version.empty() ? "" : " " + header.library_version);
}

/// The GPU of all sets that hold points.
std::string only_gpu(const std::string& name, const std::vector<Measurements>& measured) {
  std::set<std::string> gpus;
  for (const Measurements& set : measured) {
    if (!set.points.empty()) {
      gpus.insert(set.header.gpu);
    }
  }
  if (gpus.empty()) {
    throw ConfigError(Position{name, 0, 0}, "holds no measured point to compare");
  }
  if (gpus.size() > 1) {
    throw ConfigError(Position{name, 0, 0}, "holds measurements of several GPUs, " +
                                                join_alternatives({gpus.begin(), gpus.end()}, "and") +
                                                "; name files of one");
  }
  return *gpus.begin();
}

void require_one_library(const std::string& name, const KernelKind& kind,
                         const std::set<std::string>& libraries) {
  if (libraries.size() > 1) {
    throw ConfigError(
        Position{name, 0, 0},
        fmt::format("holds {} {} of several libraries, {}; name files of one", to_string(kind.first),
                    kind.second, join_alternatives({libraries.begin(), libraries.end()}, "and")));
  }
}

}  // namespace

KernelTimes::KernelTimes(std::string name, KernelProfile profile)
    : name_(std::move(name)), profile_(std::move(profile)), gpu_(load_gpu(profile_->gpu)) {
  description_ = fmt::format("{} kernels on {}, fitted {}", profile_->library, profile_->gpu, profile_->date);
}

KernelTimes::KernelTimes(std::string name, const std::vector<Measurements>& measured)
    : name_(std::move(name)), gpu_(load_gpu(only_gpu(name_, measured))) {
  std::map<KernelKind, std::map<Axes, std::vector<double>>> samples;
  std::map<KernelKind, std::set<std::string>> libraries;
  std::set<std::string> all_libraries;
  for (const Measurements& set : measured) {
    for (const MeasuredKernel& point : set.points) {
      const KernelKind kind{point.call.family, point.call.variant};
      samples[kind][point.call.axes].push_back(point.seconds);
      libraries[kind].insert(library_of(set.header));
      all_libraries.insert(library_of(set.header));
    }
  }
  for (auto& [kind, calls] : samples) {
    require_one_library(name_, kind, libraries[kind]);
    for (auto& [axes, seconds] : calls) {
      std::sort(seconds.begin(), seconds.end());
      measured_[kind][axes] = quantile(seconds, 0.5);
    }
  }
  description_ = fmt::format(
      "{} measured on {}", join_alternatives({all_libraries.begin(), all_libraries.end()}, "and"), gpu_.name);
}

std::vector<KernelKind> KernelTimes::kinds() const {
  std::vector<KernelKind> kinds;
  if (profile_) {
    for (const KernelFit& fit : profile_->fits) {
      kinds.emplace_back(fit.family, fit.variant);
    }
    std::sort(kinds.begin(), kinds.end());
  }
  for (const auto& [kind, calls] : measured_) {
    kinds.push_back(kind);
  }
  return kinds;
}

std::vector<KernelCall> KernelTimes::measured_calls(const KernelKind& kind) const {
  std::vector<KernelCall> calls;
  if (const auto found = measured_.find(kind); found != measured_.end()) {
    for (const auto& [axes, seconds] : found->second) {
      calls.push_back({kind.first, kind.second, axes});
    }
  }
  return calls;
}

std::optional<double> KernelTimes::seconds(const KernelCall& call) const {
  if (profile_) {
    const KernelFit* fit = find_fit(*profile_, call.family, call.variant);
    return fit != nullptr && extrapolation(*fit, call) <= 1
               ? std::optional(predicted_seconds(*fit, call, gpu_))
               : std::nullopt;
  }
  const auto kind = measured_.find({call.family, call.variant});
  if (kind == measured_.end()) {
    return std::nullopt;
  }
  const auto found = kind->second.find(call.axes);
  return found == kind->second.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace inferometer
