#pragma once

#include <string>

#include "sim/report/report.hpp"

namespace inferometer {

/// The results for a person at a terminal: what a fleet is sized by on top. ASCII, lines of at most `width`
/// characters (at least 72; names of scenarios and notes are never cut), a newline at the end, no trailing
/// spaces. `colour`: ANSI colours for headings and verdicts; they change nothing else.
std::string terminal_summary(const Report& report, bool colour, int width = 100);

}  // namespace inferometer
