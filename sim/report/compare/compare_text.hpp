#pragma once

#include <string>

#include "sim/report/compare/compare_report.hpp"

namespace inferometer {

/// What `inferometer compare` prints: the answer, a table a load with the baseline first, what makes figures
/// less sure, what verdicts stand on. Lines of `width` characters at most, as long as names let them.
std::string compare_text(const CompareReport& report, bool colour, int width = 100);

}  // namespace inferometer
