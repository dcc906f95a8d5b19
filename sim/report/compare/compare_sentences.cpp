#include "sim/report/compare/compare_sentences.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "base/suggest.hpp"
#include "sim/report/compare/metric_words.hpp"
#include "sim/report/text_layout.hpp"
#include "sim/study/compare/metric_direction.hpp"

namespace inferometer {
namespace {

/// Below this share of the time in steps, what was not measured cannot matter.
constexpr double kLeastExtrapolated = 0.01;

std::string with_capital(std::string sentence) {
  if (!sentence.empty() && sentence.front() >= 'a' && sentence.front() <= 'z') {
    sentence.front() = static_cast<char>(sentence.front() - 'a' + 'A');
  }
  return sentence;
}

/// "71 % (68-74 %)": two figures whose difference can be seen.
std::string percent_range(double share, double half_width) {
  const double low = 100 * (share - half_width);
  const double high = 100 * (share + half_width);
  return fmt::format("{}-{} %", short_number(low), short_number(high));
}

/// "At 8 req/s, ", with a capital; "" for the base's own traffic.
std::string under_load(const CompareStudy& study, std::size_t load) {
  const std::string& words = study.loads[load].in_words;
  return words.empty() ? "" : with_capital(words) + ", ";
}

const char* superlative(const std::string& metric) {
  return direction_of(metric) == Direction::lower_is_better ? "lowest" : "highest";
}

std::string leader_sentence(const CompareReport& report, std::size_t place) {
  const CompareStudy& study = *report.study;
  const LoadResult& load = report.result.loads[place];
  const std::string title = metric_words(study.leading_metric).title;
  if (!load.leader) {
    return with_capital(under_load(study, place) + "fewer than two variants have a " + title +
                        " that can be better or worse.");
  }
  const Leader& leader = *load.leader;
  if (leader.is_unsteady) {
    return with_capital(under_load(study, place) + "the queue of every variant grows, and its " + title +
                        " with it: more arrives than any of them serves.");
  }
  const VariantResult& best = load.variants[leader.variant];
  std::string text = fmt::format("{}{} has the {} {}: {}", under_load(study, place),
                                 study.variants[leader.variant], superlative(study.leading_metric), title,
                                 metric_amount(study.leading_metric, *best.mean(study.leading_metric)));
  const auto metric = static_cast<std::size_t>(
      std::find(study.metrics.begin(), study.metrics.end(), study.leading_metric) - study.metrics.begin());
  if (leader.variant == 0) {
    text += " (it is the baseline)";
  } else if (best.metrics[metric].difference) {
    text += ", " + difference_in_words(study.leading_metric, *best.metrics[metric].difference,
                                       study.variants.front());
    text += load.variants.front().is_unstable() && grows_with_queue(study.leading_metric)
                ? ", whose queue grows"
                : "";
  }
  std::vector<std::string> others;
  for (const std::size_t other : leader.as_good) {
    if (other != 0 || leader.variant == 0) {
      others.push_back(study.variants[other]);
    }
  }
  return text +
         (others.empty() ? "." : "; no difference is shown to " + join_alternatives(others, "or") + ".");
}

/// "at 8 req/s and at 12 req/s" where something holds; "" where it does nowhere.
struct Places {
  std::size_t count = 0;
  std::string in_words;
};

Places places_where(const CompareReport& report, std::size_t variant,
                    const std::function<bool(const VariantResult&)>& holds) {
  std::vector<std::string> loads;
  Places places;
  for (std::size_t load = 0; load < report.result.loads.size(); ++load) {
    if (holds(report.result.loads[load].variants[variant])) {
      places.count += 1;
      loads.push_back(report.study->loads[load].in_words);
    }
  }
  const bool is_everywhere = loads.size() == report.result.loads.size();
  places.in_words = is_everywhere && loads.size() > 2 ? "under every load" : join_alternatives(loads, "and");
  places.in_words = places.in_words.empty() ? "" : " " + places.in_words;
  return places;
}

/// What the variant's results under any load come to.
template <class Of>
double total_of(const CompareReport& report, std::size_t variant, Of of) {
  double total = 0;
  for (const LoadResult& load : report.result.loads) {
    total += of(load.variants[variant]);
  }
  return total;
}

template <class Of>
double largest_of(const CompareReport& report, std::size_t variant, Of of) {
  double largest = 0;
  for (const LoadResult& load : report.result.loads) {
    largest = std::max(largest, of(load.variants[variant]));
  }
  return largest;
}

/// Errors of one variant, each once with the loads that have it.
void add_errors(const CompareReport& report, std::size_t variant, std::vector<std::string>& sentences) {
  std::vector<std::string> told;
  for (const LoadResult& load : report.result.loads) {
    const std::string& error = load.variants[variant].broken_by;
    if (error.empty() || std::find(told.begin(), told.end(), error) != told.end()) {
      continue;
    }
    told.push_back(error);
    const Places places =
        places_where(report, variant, [&](const VariantResult& each) { return each.broken_by == error; });
    const bool is_whole = places_where(report, variant, [&](const VariantResult& each) {
                            return each.broken_by == error && !each.error.empty();
                          }).count == places.count;
    sentences.push_back(fmt::format("{} {} run{}: {}", report.study->variants[variant],
                                    is_whole ? "could not be" : "has seeds that could not be",
                                    places.in_words, error));
  }
}

void add_warnings(const CompareReport& report, std::size_t variant, std::vector<std::string>& sentences) {
  const std::string& name = report.study->variants[variant];
  add_errors(report, variant, sentences);
  const Places unstable =
      places_where(report, variant, [](const VariantResult& each) { return each.is_unstable(); });
  if (unstable.count > 0) {
    sentences.push_back(fmt::format(
        "the queue of {} grows{}: its TTFT, E2E and queue delay tell how long the run was, and so do "
        "verdicts on them, marked *",
        name, unstable.in_words));
  }
  const auto failed = [](const VariantResult& each) { return each.failed_requests; };
  if (total_of(report, variant, failed) > 0) {
    sentences.push_back(fmt::format(
        "{} did not serve {} requests{}; latencies are of those that were served", name,
        grouped(std::llround(total_of(report, variant, failed))),
        places_where(report, variant, [&](const VariantResult& each) { return failed(each) > 0; }).in_words));
  }
  const auto truncated = [](const VariantResult& each) { return each.truncated_requests; };
  if (total_of(report, variant, truncated) > 0) {
    sentences.push_back(fmt::format("{} cut {} answers short, by its max_model_len{}", name,
                                    grouped(std::llround(total_of(report, variant, truncated))),
                                    places_where(report, variant, [&](const VariantResult& each) {
                                      return truncated(each) > 0;
                                    }).in_words));
  }
  const Places uneven = places_where(report, variant, [](const VariantResult& each) {
    return each.error.empty() && !each.has_same_requests;
  });
  if (uneven.count > 0) {
    sentences.push_back(
        fmt::format("{} did not complete the same tokens as {}{}: differences are not all of its doing", name,
                    report.study->variants.front(), uneven.in_words));
  }
  const double extrapolated =
      largest_of(report, variant, [](const VariantResult& each) { return each.extrapolated_share; });
  if (extrapolated >= kLeastExtrapolated) {
    sentences.push_back(
        fmt::format("{} spends up to {:.2g} % of the time in steps on kernels outside of what was measured",
                    name, 100 * extrapolated));
  }
}

/// "12 differences were tested": how verdicts were reached, and how many are wrong if none is real.
std::string correction_sentence(const CompareReport& report) {
  const CompareResult& result = report.result;
  const double level = 1 - kConfidence;
  const double expected = level * static_cast<double>(result.tests);
  if (report.study->correction == Correction::none) {
    return fmt::format(
        "Each of {} verdicts is by its own 95 % interval. Were no difference real, {} of them would be shown "
        "all the same, by chance; \"correction: holm\" guards against that.",
        grouped(result.tests), short_number(expected));
  }
  return fmt::format(
      "Verdicts are by Holm and Bonferroni over the metrics of a variant under a load together: were none of "
      "its differences real, some would be shown in 5 % of cases at most; of the {} comparisons here, in {}. "
      "Of the {} single 95 % intervals {} miss by chance, so that one may leave out 0 and its verdict still "
      "be \"no difference shown\".",
      grouped(result.comparisons), short_number(level * static_cast<double>(result.comparisons)),
      grouped(result.tests), short_number(expected));
}

}  // namespace

std::string difference_in_words(const std::string& metric, const Difference& difference,
                                const std::string& baseline) {
  if (difference.verdict == Verdict::no_difference) {
    return "no difference shown to " + baseline;
  }
  const std::optional<double> share = difference.share();
  const std::optional<double> half_width = difference.share_half_width();
  if (!share) {
    return fmt::format("{} {} {}'s {}", metric_amount(metric, std::abs(difference.value.mean)),
                       difference.value.mean < 0 ? "below" : "above", baseline, metric_amount(metric, 0));
  }
  // Twice as much and more is easier to read as a factor.
  if (*share >= 1) {
    const std::string range = half_width ? fmt::format(" ({}-{})", short_number(1 + *share - *half_width),
                                                       short_number(1 + *share + *half_width))
                                         : "";
    return fmt::format("{}{} times as high as {}'s", short_number(1 + *share), range, baseline);
  }
  const double size = std::abs(*share);
  return fmt::format("{} %{} {} {}", short_number(100 * size),
                     half_width ? " (" + percent_range(size, *half_width) + ")" : "",
                     *share < 0 ? "below" : "above", baseline);
}

std::vector<std::string> answer_sentences(const CompareReport& report) {
  std::vector<std::string> sentences;
  for (std::size_t load = 0; load < report.result.loads.size(); ++load) {
    sentences.push_back(leader_sentence(report, load));
  }
  return sentences;
}

std::vector<std::string> warning_sentences(const CompareReport& report) {
  std::vector<std::string> sentences;
  for (std::size_t variant = 0; variant < report.study->variants.size(); ++variant) {
    add_warnings(report, variant, sentences);
  }
  return sentences;
}

std::vector<std::string> basis_sentences(const CompareReport& report) {
  const CompareStudy& study = *report.study;
  std::vector<std::string> sentences;
  const auto exact = std::count_if(report.result.loads.begin(), report.result.loads.end(),
                                   [](const LoadResult& load) { return load.is_exact; });
  if (exact > 0) {
    const bool is_all = static_cast<std::size_t>(exact) == report.result.loads.size();
    sentences.push_back(fmt::format(
        "{} no seed changes the requests or where they go, so that each variant was run once: differences "
        "hold for this traffic exactly, and say nothing of other traffic.",
        is_all ? "Here" : "Where no interval is given,"));
  }
  if (static_cast<std::size_t>(exact) < report.result.loads.size()) {
    sentences.push_back(
        study.seeds.size() < 2
            ? std::string("One seed shows no difference: chance may have made any of them. "
                          "\"seeds: 5\" tells.")
            : fmt::format("Means of {} seeds, with 95 % intervals by Student's t. A difference is "
                          "taken between runs that get the same requests.",
                          study.seeds.size()));
  }
  if (report.result.tests > 0) {
    sentences.push_back(correction_sentence(report));
  }
  return sentences;
}

}  // namespace inferometer
