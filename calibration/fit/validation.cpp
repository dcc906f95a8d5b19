#include "calibration/fit/validation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "hardware/gpu_spec.hpp"

namespace inferometer {
namespace {

using Points = std::vector<MeasuredKernel>;
using Groups = std::map<std::pair<KernelFamily, std::string>, Points>;

/// A prediction beside its measurement.
struct Compared {
  const MeasuredKernel* point;
  double predicted_s;
};

/// Whether the profile borrowed kernels of that library.
bool is_lender(const KernelProfile& profile, const std::string& library) {
  return std::any_of(profile.sources.begin(), profile.sources.end(), [&](const ProfileSource& source) {
    return source.library.substr(0, source.library.find(' ')) == library;
  });
}

void add_points(const Measurements& set, Groups& groups) {
  for (const MeasuredKernel& point : set.points) {
    Points& group = groups[{point.call.family, point.call.variant}];
    group.push_back(point);
    group.back().statistics.cache = cache_state(set.header);
  }
}

/// Adds what a lender measured of kinds that the profile's own library has not.
void add_lent(const Measurements& set, const Groups& own, const KernelProfile& profile, Groups& groups,
              std::vector<std::string>& notes) {
  Groups lent;
  add_points(set, lent);
  for (auto& [kind, points] : lent) {
    if (own.find(kind) == own.end()) {
      Points& all = groups[kind];
      all.insert(all.end(), points.begin(), points.end());
    } else {
      notes.push_back(fmt::format("{} points of {} {} are of {} kernels, the profile's of {}: left out",
                                  points.size(), to_string(kind.first), kind.second, set.header.library,
                                  profile.library));
    }
  }
}

/// The profile's own library goes first, then those it borrowed from, then any.
Groups comparable(const KernelProfile& profile, const std::vector<Measurements>& measured,
                  std::vector<std::string>& notes) {
  Groups own;
  std::vector<const Measurements*> lent, others;
  for (const Measurements& set : measured) {
    const MeasurementHeader& header = set.header;
    if (header.gpu != profile.gpu) {
      notes.push_back(fmt::format("{} points of {} are left out: the profile is of {}", set.points.size(),
                                  header.gpu, profile.gpu));
    } else if (header.library == profile.library) {
      add_points(set, own);
    } else {
      (is_lender(profile, header.library) ? lent : others).push_back(&set);
    }
  }
  Groups groups = own;
  for (const Measurements* set : lent) {
    add_lent(*set, own, profile, groups, notes);
  }
  const bool is_known = !groups.empty();
  for (const Measurements* set : others) {
    notes.push_back(fmt::format("{} points are of {} kernels, the profile of {}{}", set->points.size(),
                                set->header.library, profile.library, is_known ? ": left out" : ""));
    if (!is_known) {
      add_points(*set, groups);
    }
  }
  return groups;
}

std::int64_t& chart_column(std::vector<std::int64_t>& chart, double error) {
  const auto column = std::upper_bound(std::begin(kChartEdges), std::end(kChartEdges), error);
  return chart[static_cast<std::size_t>(column - std::begin(kChartEdges))];
}

ValidationRow row_of(const KernelFit& fit, std::string_view region, const std::vector<Compared>& compared,
                     const GpuSpec& gpu) {
  ValidationRow row;
  row.family = fit.family;
  row.variant = fit.variant;
  row.chart.assign(std::size(kChartEdges) + 1, 0);
  std::vector<TimePair> pairs;
  double farthest = -1;
  double covered = 0;
  for (const Compared& one : compared) {
    const TimePair pair{one.predicted_s, one.point->seconds};
    pairs.push_back(pair);
    const double error = pair.predicted_s / pair.measured_s - 1;
    ++chart_column(row.chart, error);
    row.extrapolated += extrapolation(fit, one.point->call) > 1 ? 1 : 0;
    const RegionError* interval = error_of(fit, region_of(one.point->call, gpu));
    covered += interval != nullptr ? covered_90(*interval, {pair}) : 0;
    const double distance = std::abs(std::log(pair.predicted_s / pair.measured_s));
    if (distance > farthest) {
      farthest = distance;
      row.worst = one.point->call;
      row.worst_where = one.point->where;
      row.worst_error = error;
    }
  }
  row.error = region_error(std::string(region), pairs);
  row.covered_90 = covered / static_cast<double>(compared.size());
  return row;
}

/// Rows of one family and variant: the sum, then region by region in order of name.
void add_rows(const KernelFit& fit, const std::vector<Compared>& compared, const GpuSpec& gpu,
              Validation& validation) {
  std::map<std::string_view, std::vector<Compared>> by_region;
  std::vector<Compared> as_it_happens;
  for (const Compared& one : compared) {
    by_region[region_of(one.point->call, gpu)].push_back(one);
    if (!was_read_from_cache(*one.point, gpu)) {
      as_it_happens.push_back(one);
    }
  }
  if (as_it_happens.size() < compared.size()) {
    validation.notes.push_back(
        fmt::format("{} points of {} {} were measured out of the L2 cache; predictions are for memory",
                    compared.size() - as_it_happens.size(), to_string(fit.family), fit.variant));
  }
  if (!as_it_happens.empty()) {
    validation.rows.push_back(row_of(fit, kAllRegions, as_it_happens, gpu));
  }
  for (const auto& [region, part] : by_region) {
    if (region != kAllRegions) {
      validation.rows.push_back(row_of(fit, region, part, gpu));
    }
  }
}

void require_rows(const Validation& validation, const KernelProfile& profile) {
  if (validation.rows.empty()) {
    std::string message = "nothing to compare: no measurement is of a kernel that the profile of " +
                          profile.library + " on " + profile.gpu + " knows";
    for (const std::string& note : validation.notes) {
      message += "; " + note;
    }
    throw ConfigError(Position{}, message);
  }
}

template <class AddRows>
Validation validated(const KernelProfile& profile, const std::vector<Measurements>& measured, AddRows add) {
  Validation validation;
  for (const auto& [kind, points] : comparable(profile, measured, validation.notes)) {
    const KernelFit* fit = find_fit(profile, kind.first, kind.second);
    if (fit == nullptr) {
      validation.notes.push_back(
          fmt::format("{} points of {} {} are left out: the profile has no fit of them", points.size(),
                      to_string(kind.first), kind.second));
    } else {
      add(*fit, points, validation);
    }
  }
  require_rows(validation, profile);
  return validation;
}

}  // namespace

Validation validate(const KernelProfile& profile, const std::vector<Measurements>& measured) {
  const GpuSpec gpu = load_gpu(profile.gpu);
  return validated(profile, measured,
                   [&](const KernelFit& fit, const Points& points, Validation& validation) {
                     std::vector<Compared> compared;
                     for (const MeasuredKernel& point : points) {
                       compared.push_back({&point, predicted_seconds(fit, point.call, gpu)});
                     }
                     add_rows(fit, compared, gpu, validation);
                   });
}

Validation validate_held_out(const KernelProfile& profile, const std::vector<Measurements>& measured,
                             SplitBy split, int folds) {
  const GpuSpec gpu = load_gpu(profile.gpu);
  return validated(profile, measured,
                   [&](const KernelFit& fit, const Points& points, Validation& validation) {
                     const Points unique = prepared(points, gpu);
                     std::vector<Compared> compared;
                     for (const HeldOut& held_out : cross_validate(unique, gpu, split, folds)) {
                       compared.push_back({held_out.point, held_out.predicted_s});
                     }
                     add_rows(fit, compared, gpu, validation);
                   });
}

std::string validation_json(const Validation& validation) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ValidationRow& row : validation.rows) {
    list.push_back({{"family", to_string(row.family)},
                    {"dtype", row.variant},
                    {"region", row.error.region},
                    {"n", row.error.points},
                    {"bias", row.error.bias},
                    {"median", row.error.median},
                    {"mean", row.error.mean},
                    {"p90", row.error.p90},
                    {"covered_90", row.covered_90}});
  }
  return list.dump(2) + "\n";
}

}  // namespace inferometer
