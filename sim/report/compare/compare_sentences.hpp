#pragma once

// What a comparison says in words. Who uses it: its terminal table, its page and its JSON, which say the
// same.

#include <string>
#include <vector>

#include "sim/report/compare/compare_report.hpp"

namespace inferometer {

/// Who is best under each load, by how much, and whom no difference is shown to.
std::vector<std::string> answer_sentences(const CompareReport& report);

/// What makes figures less sure or pairs uneven, a sentence for each variant and cause: runs that broke,
/// queues that grow, requests that failed or were cut short, prices outside of what was measured.
std::vector<std::string> warning_sentences(const CompareReport& report);

/// What verdicts and intervals stand on, and how many of them chance alone makes.
std::vector<std::string> basis_sentences(const CompareReport& report);

/// "71 % (68-74 %) below static", "2.4 (2.2-2.6) times as high as static's", "no difference shown to static".
std::string difference_in_words(const std::string& metric, const Difference& difference,
                                const std::string& baseline);

}  // namespace inferometer
