#include "calibration/fit/fit_profile.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/suggest.hpp"
#include "calibration/fit/kernel_fitting.hpp"
#include "hardware/gpu_spec.hpp"

namespace inferometer {
namespace {

/// Points of one family and variant.
struct Group {
  std::vector<MeasuredKernel> points;
  std::string lender;  // of all of them; empty when any are of the profile's own library
};
using Groups = std::map<std::pair<KernelFamily, std::string>, Group>;

bool is_borrowed(const ProfileRequest& request, const std::string& library, KernelFamily family) {
  return std::any_of(request.borrowed.begin(), request.borrowed.end(), [&](const BorrowedFamily& borrowed) {
    return borrowed.library == library && borrowed.family == family;
  });
}

bool is_lender(const ProfileRequest& request, const std::string& library) {
  return std::any_of(request.borrowed.begin(), request.borrowed.end(),
                     [&](const BorrowedFamily& borrowed) { return borrowed.library == library; });
}

/// The chosen word, or the only one there is.
std::string chosen(const std::string& asked, const std::set<std::string>& found, const char* what,
                   const char* option) {
  const std::vector<std::string> words(found.begin(), found.end());
  if (!asked.empty()) {
    if (found.find(asked) == found.end()) {
      throw ConfigError(Position{}, std::string("none of the measurements is of ") + what + " \"" + asked +
                                        "\"; there are " + join_alternatives(words, "and") +
                                        did_you_mean(asked, words));
    }
    return asked;
  }
  if (found.size() != 1) {
    throw ConfigError(Position{}, std::string("the measurements are of several ") + what + "s, " +
                                      join_alternatives(words, "and") + "; choose one with " + option);
  }
  return *found.begin();
}

Groups grouped(const std::vector<Measurements>& measured, const ProfileRequest& request,
               KernelProfile& profile) {
  Groups groups;
  for (const Measurements& set : measured) {
    const MeasurementHeader& header = set.header;
    const std::string library =
        header.library + (header.library_version.empty() ? "" : " " + header.library_version);
    const std::string lender = header.library == profile.library ? "" : library;
    bool is_used = false;
    for (const MeasuredKernel& point : set.points) {
      if (header.gpu == profile.gpu &&
          (header.library == profile.library || is_borrowed(request, header.library, point.call.family))) {
        const auto [found, is_new] = groups.try_emplace({point.call.family, point.call.variant});
        Group& group = found->second;
        group.lender = is_new || group.lender == lender ? lender : "";
        group.points.push_back(point);
        group.points.back().statistics.cache = cache_state(header);
        is_used = true;
      }
    }
    const auto same = [&](const ProfileSource& source) { return source.library == library; };
    if (is_used && std::none_of(profile.sources.begin(), profile.sources.end(), same)) {
      profile.sources.push_back({library, header.source, request.notice});
    }
  }
  return groups;
}

}  // namespace

KernelProfile fit_profile(const std::vector<Measurements>& measured, const ProfileRequest& request,
                          const FitProgress& progress) {
  std::set<std::string> gpus, libraries;
  for (const Measurements& set : measured) {
    gpus.insert(set.header.gpu);
    if (!is_lender(request, set.header.library)) {
      libraries.insert(set.header.library);
    }
  }
  if (measured.empty() || libraries.empty()) {
    throw ConfigError(Position{}, "there is nothing to fit: no measurements were read");
  }
  KernelProfile profile;
  profile.gpu = chosen(request.gpu, gpus, "GPU", "--gpu");
  profile.library = chosen(request.library, libraries, "library", "--library");
  profile.date = request.date;
  const Groups groups = grouped(measured, request, profile);
  if (groups.empty()) {
    throw ConfigError(Position{}, "there is nothing to fit: no kernel of " + profile.library +
                                      " was measured on " + profile.gpu);
  }
  const GpuSpec gpu = load_gpu(profile.gpu);
  for (const auto& [kind, group] : groups) {
    progress(kind.first, kind.second, group.points.size());
    profile.fits.push_back(fit_with_errors(prepared(group.points, gpu), gpu, request.folds));
    profile.fits.back().library = group.lender;
  }
  return profile;
}

}  // namespace inferometer
