#include "sim/report/plan/plan_text.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/report/plan/plan_answer.hpp"
#include "sim/report/plan/plan_view.hpp"
#include "sim/report/plan/plan_words.hpp"
#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

constexpr int kNarrowest = 100;
/// Columns of the table of shapes; with two blanks between them they are 100 characters.
constexpr int kNameWidth = 31;
constexpr int kUnitsWidth = 5, kGpusWidth = 5, kDollarsWidth = 8, kPowerWidth = 8, kTargetWidth = 28;
/// Rows of the table of shapes, of which at most the latter are of shapes that miss.
constexpr std::size_t kRowsShown = 20, kMissesShown = 8;
constexpr std::size_t kFrontShown = 10;
constexpr std::size_t kSensitivityShown = 12;
/// Names in the line of a group of shapes that were not run.
constexpr std::size_t kNamesShown = 3;

enum class Style { heading, good, bad };

std::string count_of(std::size_t number) {
  return grouped(static_cast<std::int64_t>(number));
}

class PlanText {
 public:
  PlanText(const PlanResult& plan, const StudyProvenance& provenance, bool colour, int width)
      : plan_(plan), provenance_(provenance), colour_(colour), width_(std::max(width, kNarrowest)) {}

  std::string write() {
    write_answer();
    write_shapes();
    write_front();
    write_sensitivity();
    write_notes();
    return std::move(text_);
  }

 private:
  void write_answer();
  void write_shapes();
  void write_simulated(std::string_view heading, const std::vector<std::size_t>& shapes, std::size_t most);
  void write_row(std::size_t shape);
  void write_unsimulated(const FateGroup& group);
  void write_front();
  void write_sensitivity();
  void write_notes();

  [[nodiscard]] std::string styled(Style style, std::string_view text) const;
  /// Words with two blanks in front of them, the lines after the first with four.
  void sentence(std::string_view text);

  const PlanResult& plan_;
  const StudyProvenance& provenance_;
  bool colour_;
  int width_;
  std::string text_;
};

std::string PlanText::styled(Style style, std::string_view text) const {
  if (!colour_) {
    return std::string(text);
  }
  const char* code = style == Style::heading ? "1" : style == Style::good ? "32" : "1;31";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

void PlanText::sentence(std::string_view text) {
  text_ += "  " + wrapped(text, 4, width_) + "\n";
}

void PlanText::write_answer() {
  text_ += styled(Style::heading, provenance_.study);
  text_ += (provenance_.subject.empty() ? "" : ": " + provenance_.subject) + "\n\n";
  bool is_first = true;
  std::string all;
  for (const std::string& sentence : answer_sentences(plan_)) {
    all += (is_first ? "" : " ") + sentence;
    is_first = false;
  }
  const std::string laid_out = wrapped(all, 0, width_);
  text_ += styled(plan_.best ? Style::good : Style::bad, laid_out) + "\n\n";
}

/// A row of figures, the name on a line of its own where it is too long for its column.
void PlanText::write_row(std::size_t shape) {
  const ShapeResult& result = plan_.shapes[shape];
  const Assessment& assessment = at(plan_, *shown_place(plan_, shape));
  std::string name = "  " + result.name;
  if (name.size() > static_cast<std::size_t>(kNameWidth)) {
    text_ += name + "\n";
    name.clear();
  }
  const TargetResult* worst = assessment.worst();
  std::string target = worst != nullptr ? target_in_brief(*worst) : verdict_in_words(assessment.verdict);
  target += worst != nullptr && is_saturated(assessment) ? " *" : "";
  const bool is_of_this_size = result.sustained && !result.sustained->tried.empty() &&
                               result.sustained->tried.front().size.units == assessment.size.units;
  const std::string rate = is_of_this_size ? rate_in_words(*result.sustained) : "";
  const double dollars = assessment.size.dollars_per_hour;
  std::string row =
      fmt::format("{:<{}}  {:>{}}  {:>{}}  {:>{}}  {:>{}}  {:<{}}  {}", name, kNameWidth,
                  grouped(assessment.size.units), kUnitsWidth, grouped(assessment.size.gpus), kGpusWidth,
                  dollars == 0 ? "-" : fmt::format("{:.2f}", dollars), kDollarsWidth,
                  power_in_words(assessment.size.watts), kPowerWidth, target, kTargetWidth, rate);
  row.erase(row.find_last_not_of(' ') + 1);
  text_ += row + "\n";
}

void PlanText::write_simulated(std::string_view heading, const std::vector<std::size_t>& shapes,
                               std::size_t most) {
  text_ += count_of(shapes.size()) + " " + std::string(heading) + "\n";
  for (std::size_t i = 0; i < std::min(shapes.size(), most); ++i) {
    write_row(shapes[i]);
  }
  if (shapes.size() > most) {
    text_ += fmt::format("  and {} more\n", count_of(shapes.size() - most));
  }
}

/// In a line or two: how many, some of their names, and why; where they have reasons of their own, that of
/// the first.
void PlanText::write_unsimulated(const FateGroup& group) {
  std::set<std::string> reasons;
  std::string names;
  for (std::size_t i = 0; i < group.shapes.size(); ++i) {
    const ShapeResult& shape = plan_.shapes[group.shapes[i]];
    reasons.insert(shape.reason);
    if (i < kNamesShown) {
      names += (i > 0 ? "; " : "") + shape.name;
    }
  }
  if (group.shapes.size() > kNamesShown) {
    names += fmt::format(" and {} more", count_of(group.shapes.size() - kNamesShown));
  }
  const ShapeResult& first = plan_.shapes[group.shapes.front()];
  text_ += fmt::format("{} {}\n", count_of(group.shapes.size()), fate_in_words(group.fate));
  sentence(names);
  if (!first.reason.empty()) {
    sentence((reasons.size() > 1 ? "for instance " + first.name + ": " : std::string()) + first.reason);
  }
}

void PlanText::write_shapes() {
  const std::vector<std::size_t> meeting = shapes_that_meet(plan_);
  const std::vector<FateGroup> others = shapes_that_do_not(plan_);
  text_ += styled(Style::heading,
                  fmt::format("{:<{}}  {:>{}}  {:>{}}  {:>{}}  {:>{}}  {:<{}}  {}", "shape", kNameWidth,
                              "units", kUnitsWidth, "GPUs", kGpusWidth, "$/h", kDollarsWidth, "power",
                              kPowerWidth, "worst limit", kTargetWidth, "sustains")) +
           "\n";
  std::size_t rows_left = kRowsShown;
  if (!meeting.empty()) {
    const bool has_others = !others.empty() && shown_place(plan_, others.front().shapes.front());
    const std::size_t most = has_others ? kRowsShown - kMissesShown : kRowsShown;
    write_simulated(fate_in_words(ShapeFate::meets) + ", cheapest size of each", meeting, most);
    rows_left -= std::min(meeting.size(), most);
  }
  bool is_starred = false;
  for (const FateGroup& group : others) {
    if (!shown_place(plan_, group.shapes.front())) {
      write_unsimulated(group);
      continue;
    }
    const std::size_t most = std::min(rows_left, kMissesShown);
    write_simulated(fate_in_words(group.fate), group.shapes, most);
    rows_left -= std::min(group.shapes.size(), most);
    is_starred = is_starred || std::any_of(group.shapes.begin(), group.shapes.end(), [&](std::size_t shape) {
                   return is_saturated(at(plan_, *shown_place(plan_, shape)));
                 });
  }
  if (is_starred) {
    text_ += styled(Style::bad, "  * the queue grew: latencies are no steady state") + "\n";
  }
  text_ += "\n";
}

void PlanText::write_front() {
  if (plan_.front.size() < 2) {
    return;
  }
  text_ += styled(Style::heading, "front") +
           fmt::format(": nothing {} beats these in cost, {} and power at once\n",
                       plan_.is_front_whole ? "among the candidates" : "that was simulated",
                       metric_in_words(plan_.latency_axis));
  for (std::size_t i = 0; i < std::min(plan_.front.size(), kFrontShown); ++i) {
    const AssessmentPlace place{plan_.front[i].first, plan_.front[i].second};
    const Assessment& assessment = at(plan_, place);
    const std::optional<double> latency = assessment.find(plan_.latency_axis);
    sentence(fmt::format("{}: {}, {}, {} x {}", cost_in_words(plan_.objective, assessment.size),
                         latency ? short_duration(*latency) : "no latency",
                         power_in_words(mean_watts(assessment)), grouped(assessment.size.units),
                         plan_.shapes[place.shape].name));
  }
  if (plan_.front.size() > kFrontShown) {
    text_ += fmt::format("  and {} more\n", count_of(plan_.front.size() - kFrontShown));
  }
  text_ += "\n";
}

void PlanText::write_sensitivity() {
  if (plan_.sensitivity.empty()) {
    return;
  }
  text_ += styled(Style::heading, "if one thing were different") + "\n";
  for (std::size_t i = 0; i < std::min(plan_.sensitivity.size(), kSensitivityShown); ++i) {
    const SensitivityRow& row = plan_.sensitivity[i];
    sentence(fmt::format("{} {} instead of {}: {}", row.what, row.to, row.from, row.effect));
  }
  if (plan_.sensitivity.size() > kSensitivityShown) {
    text_ += fmt::format("  and {} more\n", count_of(plan_.sensitivity.size() - kSensitivityShown));
  }
  text_ += "\n";
}

void PlanText::write_notes() {
  text_ += fmt::format("{} sizes of {} shapes; {} runs of one seed told them apart\n",
                       grouped(plan_.candidates), count_of(plan_.shapes.size()), grouped(plan_.evaluations));
  for (const Caveat& caveat : caveats(plan_)) {
    text_ += styled(caveat.is_warning ? Style::bad : Style::heading, "note") + "  " +
             wrapped(caveat.sentence, 6, width_) + "\n";
  }
  for (const std::string& note : provenance_.notes) {
    text_ += styled(Style::heading, "note") + "  " + wrapped(note, 6, width_) + "\n";
  }
}

}  // namespace

std::string plan_text(const PlanResult& plan, const StudyProvenance& provenance, bool colour, int width) {
  return PlanText(plan, provenance, colour, width).write();
}

}  // namespace inferometer
