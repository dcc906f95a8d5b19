#include "sim/validation/predict/preset_choice.hpp"

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

// Not in order, and with a version that sorts wrongly as text (0.8 < 0.15).
const std::vector<DatedPreset> kPresets = {{"vllm-0.15", "2026-01-29"},
                                           {"vllm-0.8", "2025-03-18"},
                                           {"vllm-0.11", "2025-10-02"},
                                           {"trtllm-1.0", "2025-09-24"},
                                           {"trtllm-0.17", "2025-02-07"}};

std::string chosen(const MeasuredEngine& engine) {
  const auto choice = preset_for(engine, kPresets);
  return choice ? choice->name : "none";
}

TEST_CASE("a version has the latest preset that is not later") {
  CHECK(chosen({"vllm", "0.15.1", ""}) == "vllm-0.15");
  CHECK(chosen({"vllm", "0.15", ""}) == "vllm-0.15");
  CHECK(chosen({"vllm", "0.14.9", ""}) == "vllm-0.11");
  CHECK(chosen({"vllm", "v0.11.0rc2", ""}) == "vllm-0.11");
  CHECK(chosen({"vllm", "0.9.2", ""}) == "vllm-0.8");
  CHECK(chosen({"trtllm", "1.0.0rc3", ""}) == "trtllm-1.0");
  CHECK(chosen({"trtllm", "0.21", ""}) == "trtllm-0.17");
  CHECK(preset_for({"vllm", "0.9.2", ""}, kPresets)->note.empty());
}

TEST_CASE("the version counts before the month") {
  CHECK(chosen({"vllm", "0.8.4", "2026-02"}) == "vllm-0.8");
}

TEST_CASE("a month has the latest preset that was out by its end") {
  CHECK(chosen({"vllm", "", "2026-01"}) == "vllm-0.15");
  CHECK(chosen({"vllm", "", "2025-12"}) == "vllm-0.11");
  CHECK(chosen({"vllm", "", "2025-09"}) == "vllm-0.8");
}

TEST_CASE("what is not said is assumed, and that is told") {
  const auto latest = preset_for({"vllm", "", ""}, kPresets);
  CHECK(latest->name == "vllm-0.15");
  CHECK(latest->note == "which vllm it was is not said; taken for vllm-0.15");
  const auto first = preset_for({"vllm", "0.5.3", ""}, kPresets);
  CHECK(first->name == "vllm-0.8");
  CHECK(first->note == "vllm 0.5.3 is older than all presets; taken for vllm-0.8");
}

TEST_CASE("an engine without presets gets none") {
  CHECK(chosen({"lmdeploy", "0.6", ""}) == "none");
  CHECK(chosen({"", "", ""}) == "none");
}

}  // namespace
}  // namespace inferometer
