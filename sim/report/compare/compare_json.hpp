#pragma once

#include <string>

#include "sim/report/compare/compare_report.hpp"

namespace inferometer {

/// Raised when a field changes its meaning or goes away; new fields do not raise it.
inline constexpr int kCompareSchemaVersion = 1;

/// compare.json: a line for each metric of a variant under a load, UTF-8, a newline at the end. Nothing in it
/// depends on the machine, the locale, the clock or how the runs were spread over processes.
/// sim/report/compare/README.md explains every field.
std::string compare_json(const CompareReport& report);

/// A figure as compare.json has it: six digits, which is more than runs agree in, and short.
double kept_figure(double value);

}  // namespace inferometer
