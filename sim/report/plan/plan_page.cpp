#include "sim/report/plan/plan_page.hpp"

#include <cctype>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/report/plan/plan_answer.hpp"
#include "sim/report/plan/plan_charts.hpp"
#include "sim/report/plan/plan_tables.hpp"
#include "sim/report/plan/plan_view.hpp"
#include "sim/report/plan/plan_words.hpp"
#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

/// A section of what there is; left out when that is nothing.
class SectionOf {
 public:
  explicit SectionOf(std::string title) : section_{std::move(title), {}} {}

  SectionOf& add(Block block) {
    section_.blocks.push_back(std::move(block));
    return *this;
  }

  template <class T>
  SectionOf& add(std::optional<T> block) {
    if (block) {
      section_.blocks.emplace_back(std::move(*block));
    }
    return *this;
  }

  void end(Page& page) {
    if (!section_.blocks.empty()) {
      page.sections.push_back(std::move(section_));
    }
  }

 private:
  Section section_;
};

/// A caveat on its own: with a capital letter and a full stop.
std::string as_paragraph(std::string sentence) {
  sentence.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence.front())));
  return with_stop(std::move(sentence));
}

KeyFigure margin_figure(const Assessment& assessment) {
  const TargetResult* worst = assessment.worst();
  if (worst == nullptr) {
    return {"Worst limit", "none", "nothing measured", Tone::warning};
  }
  const bool is_met = *worst->over <= 0;
  KeyFigure figure{"Worst limit: " + target_in_words(worst->name),
                   fmt::format("{} %", short_number(100 * std::abs(*worst->over))),
                   fmt::format("{}: {} of {}", is_met ? "to spare" : "missed by", value_in_words(*worst),
                               amount_in_words(*worst, worst->limit)),
                   worst->is_close ? Tone::warning
                   : is_met        ? Tone::good
                                   : Tone::bad};
  return figure;
}

std::optional<KeyFigure> headroom_figure(const PlanResult& plan, AssessmentPlace answer) {
  const std::optional<SustainedRate>& rate = plan.shapes[answer.shape].sustained;
  const std::optional<double> above =
      rate ? headroom(*rate, at(plan, answer).offered_per_second) : std::nullopt;
  if (!above) {
    return std::nullopt;
  }
  KeyFigure figure{"Headroom", fmt::format("{} %", short_number(100 * *above)),
                   fmt::format("sustains {}; traffic is {} req/s", rate_in_words(*rate),
                               short_number(at(plan, answer).offered_per_second)),
                   *above >= 0 ? Tone::good : Tone::warning};
  figure.number = ResultsNumber{"answer.headroom_share", *above};
  return figure;
}

void add_money(const Assessment& assessment, const std::string& path, std::vector<KeyFigure>& figures) {
  const double dollars = assessment.size.dollars_per_hour;
  if (dollars == 0) {
    return;
  }
  KeyFigure hour{
      "Cost", dollars_per_hour_in_words(dollars),
      fmt::format("${} a month of {:.0f} h", grouped(std::llround(kHoursOfMonth * dollars)), kHoursOfMonth)};
  hour.number = ResultsNumber{path + ".size.dollars_per_hour", dollars};
  figures.push_back(std::move(hour));
  constexpr const char* kPerToken = "output_dollars_per_million_tokens";
  if (const std::optional<double> price = assessment.find(kPerToken)) {
    const std::optional<double> with_input = assessment.find("total_dollars_per_million_tokens");
    KeyFigure tokens{"Per million output tokens", "$" + short_number(*price),
                     with_input ? "$" + short_number(*with_input) + " per million with input" : ""};
    tokens.number = ResultsNumber{path + ".metrics." + kPerToken, *price};
    figures.push_back(std::move(tokens));
  }
}

/// Of the answer, or of what comes nearest.
std::vector<KeyFigure> key_figures(const PlanResult& plan, AssessmentPlace place) {
  const Assessment& assessment = at(plan, place);
  const std::string path = json_path(place);
  std::vector<KeyFigure> figures;
  add_money(assessment, path, figures);
  KeyFigure gpus{"GPUs", grouped(assessment.size.gpus),
                 setup_in_words(plan.shapes[place.shape], assessment.size.units)};
  gpus.number = ResultsNumber{path + ".size.gpus", static_cast<double>(assessment.size.gpus)};
  figures.push_back(std::move(gpus));
  KeyFigure power{"Power", power_in_words(assessment.size.watts), "limit of its GPUs"};
  power.number = ResultsNumber{path + ".size.power_watts", assessment.size.watts};
  figures.push_back(std::move(power));
  figures.push_back(margin_figure(assessment));
  if (place == answer_place(plan)) {
    if (std::optional<KeyFigure> headroom = headroom_figure(plan, place)) {
      figures.push_back(std::move(*headroom));
    }
  }
  return figures;
}

std::optional<std::vector<KeyFigure>> first_figures(const PlanResult& plan) {
  const std::optional<AssessmentPlace> answer = answer_place(plan);
  const std::optional<AssessmentPlace> place = answer ? answer : nearest_miss(plan);
  return place ? std::optional(key_figures(plan, *place)) : std::nullopt;
}

void add_answer(const PlanResult& plan, Page& page) {
  bool is_first = true;
  for (std::string& sentence : answer_sentences(plan)) {
    const Tone tone = !is_first ? Tone::plain : plan.best ? Tone::good : Tone::bad;
    page.answer.push_back({std::move(sentence), tone});
    is_first = false;
  }
  for (Caveat& caveat : caveats(plan)) {
    if (caveat.is_warning) {
      page.answer.push_back({as_paragraph(std::move(caveat.sentence)), Tone::warning});
    }
  }
}

void add_certainty(const PlanResult& plan, const StudyProvenance& provenance, Page& page) {
  SectionOf section("How sure this is");
  for (Caveat& caveat : caveats(plan)) {
    section.add(
        Paragraph{as_paragraph(std::move(caveat.sentence)), caveat.is_warning ? Tone::warning : Tone::plain});
  }
  for (const std::string& note : provenance.notes) {
    section.add(Paragraph{note});
  }
  section.end(page);
}

}  // namespace

Page plan_page(const PlanResult& plan, const StudyProvenance& provenance) {
  Page page;
  page.title = provenance.study;
  page.subtitle = provenance.subject;
  page.footer = provenance_line(provenance);
  add_answer(plan, page);
  const bool has_answer = answer_place(plan).has_value();
  SectionOf(has_answer ? "The answer" : "What comes nearest")
      .add(first_figures(plan))
      .add(target_table(plan))
      .end(page);
  SectionOf("Cost and latency").add(front_chart(plan)).add(front_table(plan)).end(page);
  SectionOf("How much traffic it carries").add(rate_chart(plan)).add(rate_table(plan)).end(page);
  SectionOf("What the candidates cost").add(cost_chart(plan)).add(simulated_table(plan)).end(page);
  SectionOf("Why not the others").add(unsimulated_table(plan)).end(page);
  SectionOf("Where the time went").add(time_chart(plan)).end(page);
  SectionOf("How long requests took").add(latency_chart(plan)).end(page);
  SectionOf("If one thing were different").add(sensitivity_table(plan)).end(page);
  add_certainty(plan, provenance, page);
  SectionOf("What this is the result of")
      .add(Paragraph{with_stop(effort_in_words(plan))})
      .add(input_table(provenance))
      .add(Listing{
          "The study with all its defaults",
          provenance.resolved_study.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)})
      .end(page);
  return page;
}

}  // namespace inferometer
