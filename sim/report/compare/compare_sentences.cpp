#include "sim/report/compare/compare_sentences.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

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
  std::vector<std::string> others;
  const std::optional<Difference>& difference = best.metrics[metric].difference;
  if (leader.variant == 0) {
    text += ", the baseline";
  } else if (difference && difference->verdict != DifferenceVerdict::no_difference) {
    text += ", " + difference_in_words(study.leading_metric, *difference, study.variants.front());
    text += difference->is_unsteady ? ", whose queue grows" : "";
  } else if (difference) {
    others.push_back(study.variants.front());
  }
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

/// "static 4 at 8 req/s, orca 4 at 8 req/s"; "4 of each variant at 8 req/s" where all have as many at the
/// same loads. `amount` is "" for nothing to tell.
std::string by_variant(const CompareReport& report, const std::function<double(const VariantResult&)>& of,
                       const std::function<std::string(double)>& amount) {
  std::vector<std::string> amounts, variants;
  for (std::size_t variant = 0; variant < report.study->variants.size(); ++variant) {
    double total = 0;
    for (const LoadResult& load : report.result.loads) {
      total += of(load.variants[variant]);
    }
    if (total > 0) {
      const Places places =
          places_where(report, variant, [&](const VariantResult& each) { return of(each) > 0; });
      amounts.push_back(amount(total) + places.in_words);
      variants.push_back(report.study->variants[variant]);
    }
  }
  if (amounts.size() > 1 && amounts.size() == report.study->variants.size() &&
      std::count(amounts.begin(), amounts.end(), amounts.front()) ==
          static_cast<std::ptrdiff_t>(amounts.size())) {
    return "each variant " + amounts.front();
  }
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    amounts[i] = variants[i] + (amounts[i].empty() || amounts[i].front() == ' ' ? "" : " ") + amounts[i];
  }
  return fmt::format("{}", fmt::join(amounts, ", "));
}

std::string count_in_words(double total) {
  return grouped(std::llround(total));
}

std::string nothing(double) {
  return "";
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

/// "static 49 %, orca 4.6 %": the largest share under any load.
std::string extrapolated_by_variant(const CompareReport& report) {
  std::vector<std::string> parts;
  for (std::size_t variant = 0; variant < report.study->variants.size(); ++variant) {
    double largest = 0;
    for (const LoadResult& load : report.result.loads) {
      largest = std::max(largest, load.variants[variant].extrapolated_share);
    }
    if (largest >= kLeastExtrapolated) {
      parts.push_back(fmt::format("{} {:.2g} %", report.study->variants[variant], 100 * largest));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

void add_sentence(const std::string& before, const std::string& who, const std::string& after,
                  std::vector<std::string>& sentences) {
  if (!who.empty()) {
    sentences.push_back(before + who + after);
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
        grouped(result.tests), fmt::format("{:.2g}", expected));
  }
  return fmt::format(
      "Verdicts are by Holm and Bonferroni over the metrics of a variant under a load together: were none of "
      "its differences real, some would be shown in 5 % of cases at most; of the {} comparisons here, in {}. "
      "Of the {} single 95 % intervals {} miss by chance, so that one may leave out 0 and its verdict still "
      "be \"no difference shown\".",
      grouped(result.comparisons), fmt::format("{:.2g}", level * static_cast<double>(result.comparisons)),
      grouped(result.tests), fmt::format("{:.2g}", expected));
}

}  // namespace

std::string difference_in_words(const std::string& metric, const Difference& difference,
                                const std::string& baseline) {
  if (difference.verdict == DifferenceVerdict::no_difference) {
    return "no difference shown to " + baseline;
  }
  if (!difference.relative) {
    return fmt::format("{} {} {}'s {}", metric_amount(metric, std::abs(difference.value.mean)),
                       difference.value.mean < 0 ? "below" : "above", baseline,
                       metric_amount(metric, difference.baseline));
  }
  const RelativeDifference& relative = *difference.relative;
  // Twice as much and more is easier to read as a factor.
  const bool is_factor = relative.share >= 1;
  const double sign = relative.share < 0 ? -1 : 1;
  const auto number = [&](double share) { return short_number(is_factor ? 1 + share : 100 * sign * share); };
  const double nearer = sign < 0 ? relative.high.value_or(0) : relative.low.value_or(0);
  const double farther = sign < 0 ? relative.low.value_or(0) : relative.high.value_or(0);
  const std::string range =
      relative.low ? fmt::format(" ({}-{}{})", number(nearer), number(farther), is_factor ? "" : " %") : "";
  if (is_factor) {
    return fmt::format("{}{} times as high as {}'s", number(relative.share), range, baseline);
  }
  return fmt::format("{} %{} {} {}", number(relative.share), range, sign < 0 ? "below" : "above", baseline);
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
    add_errors(report, variant, sentences);
  }
  add_sentence(
      "Queues that grow: ",
      by_variant(
          report, [](const VariantResult& each) { return each.is_unstable() ? 1.0 : 0.0; }, nothing),
      ". TTFT, E2E and queue delay then tell how long the run was, and so do verdicts on them, marked *.",
      sentences);
  add_sentence("Requests that were not served: ",
               by_variant(
                   report, [](const VariantResult& each) { return each.failed_requests; }, count_in_words),
               ". Latencies are of those that were served.", sentences);
  add_sentence("Answers that max_model_len cut short: ",
               by_variant(
                   report, [](const VariantResult& each) { return each.truncated_requests; }, count_in_words),
               "", sentences);
  add_sentence(
      "Not the tokens that " + report.study->variants.front() + " completed: ",
      by_variant(
          report, [](const VariantResult& each) { return each.has_same_requests ? 0.0 : 1.0; }, nothing),
      ". Differences there are not all of the variant's doing.", sentences);
  add_sentence("Kernels outside of what was measured, of the time in steps: ",
               extrapolated_by_variant(report), "", sentences);
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
            : fmt::format("Means of {} seeds, with 95 % intervals by Student's t. Differences are taken "
                          "between runs that get the same requests, relative ones on logarithms: "
                          "runs scatter by factors.",
                          study.seeds.size()));
  }
  if (report.result.tests > 0) {
    sentences.push_back(correction_sentence(report));
  }
  return sentences;
}

}  // namespace inferometer
