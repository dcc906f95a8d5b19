#include "sim/report/run/run_page.hpp"

#include <fmt/format.h>

#include "sim/report/run/run_sections.hpp"

namespace inferometer {

Page run_page(const Report& report, const RunCharts& charts) {
  Page page;
  page.title = report.scenario;
  page.subtitle = report.setup;
  page.answer = answer_of(report);
  page.sections = {headline_section(report), latency_section(report, charts),
                   timeline_section(report, charts), roofline_section(report, charts), time_section(report)};
  if (report.summary.speculation) {
    page.sections.push_back(speculation_section(report));
  }
  page.sections.push_back(cost_section(report));
  if (report.summary.cluster) {
    page.sections.push_back(cluster_section(report));
  }
  page.sections.push_back(basis_section(report));
  page.sections.push_back(input_section(report));
  page.footer = fmt::format("inferometer {}, run of {}", report.program_version, report.scenario);
  for (const InputFile& input : report.inputs) {
    page.footer += fmt::format("; {} {}", input.name, input.hash);
  }
  return page;
}

}  // namespace inferometer
