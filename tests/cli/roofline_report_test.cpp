#include "sim/cli/roofline_report.hpp"

#include <algorithm>
#include <sstream>

#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"
#include "tests/support/sample_kernels.hpp"
#include "tests/support/sample_specs.hpp"

namespace inferometer {
namespace {

RooflineSetting round_setting(CostLevel level) {
  RooflineSetting setting;
  setting.model = samples::llama_3_8b();
  setting.gpu = samples::round_gpu();
  setting.profile = samples::round_profile();
  setting.tensor_parallel = 2;
  setting.level = level;
  return setting;
}

RooflineSetting calibrated_setting() {
  RooflineSetting setting = round_setting(CostLevel::calibrated);
  setting.kernels = samples::whole_profile();
  setting.tensor_parallel = 1;
  return setting;
}

constexpr StepShape kDecode{.decodes = 64, .decode_context = 64 * 1024, .sampled_rows = 64};

RooflineRow named(const std::vector<RooflineRow>& rows, const std::string& name) {
  return *std::find_if(rows.begin(), rows.end(), [&](const RooflineRow& row) { return row.name == name; });
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

TEST_CASE("a row holds all runs of its operator") {
  const std::vector<RooflineRow> rows = roofline_rows(round_setting(CostLevel::roofline), kDecode);
  const RooflineRow down = named(rows, "down projection");
  CHECK(down.runs == 32);
  CHECK(down.flops.count() == 32 * 2.0 * 64 * 7168 * 4096);
  CHECK(down.hbm_bytes.count() == 32LL * (2 * 7168 * 4096 + 2 * 64 * (7168 + 4096)));
  CHECK(down.ridge == Approx(1000 * 0.5 / 0.8));
  CHECK(down.bound == Bound::bandwidth);
  CHECK(down.datasheet == picoseconds(down.hbm_bytes.count()));  // 1 TB/s
  // 4 us and 0.8 of the bandwidth, 32 times.
  CHECK(to_seconds(down.fitted) ==
        Approx(32 * 4e-6 + 1e-12 * static_cast<double>(down.hbm_bytes.count()) / 0.8));
  const RooflineRow reduce = named(rows, "all-reduce");
  CHECK(reduce.ridge == 0);
  CHECK(reduce.bound == Bound::communication);
  CHECK(reduce.link_bytes.count() == 64 * (64 * 4096 * 2));
}

TEST_CASE("the last row is the sum of the others") {
  for (const CostLevel level : {CostLevel::datasheet, CostLevel::roofline}) {
    const std::vector<RooflineRow> rows = roofline_rows(round_setting(level), kDecode);
    RooflineRow sum;
    for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
      sum.flops += rows[i].flops;
      sum.hbm_bytes += rows[i].hbm_bytes;
      sum.datasheet += rows[i].datasheet;
      sum.fitted += rows[i].fitted;
    }
    CHECK(rows.back().name == "step");
    CHECK(rows.back().flops == sum.flops);
    CHECK(rows.back().hbm_bytes == sum.hbm_bytes);
    CHECK(rows.back().datasheet == sum.datasheet);
    CHECK(rows.back().fitted == sum.fitted);
    CHECK(rows.back().bound == Bound::bandwidth);
    CHECK(rows.back().ridge == Approx(level == CostLevel::datasheet ? 1000 : 625));
  }
}

TEST_CASE("a sweep row names the operator that takes most of the time") {
  const ChunkShape prompt{4096, 0};
  RooflineSetting setting = round_setting(CostLevel::roofline);
  setting.tensor_parallel = 1;
  const SweepRow row = sweep_row(setting, 4096, {.chunks = {&prompt, 1}});
  CHECK(row.value == 4096);
  CHECK(row.tokens == 4096);
  CHECK(row.largest == "gate + up projection");
  CHECK(row.step.bound == Bound::compute);
  CHECK(row.largest_share > 0.3);
  CHECK(row.largest_share < 0.6);
}

TEST_CASE("CSV: a header, a line an operator, as many fields in each") {
  const std::vector<RooflineRow> rows = roofline_rows(round_setting(CostLevel::roofline), kDecode);
  const std::vector<std::string> lines = lines_of(roofline_csv(rows));
  REQUIRE(lines.size() == rows.size() + 1);
  CHECK(lines[0] ==
        "operator,runs,flops,hbm_bytes,link_bytes,flops_per_byte,ridge_flops_per_byte,bound,datasheet_us,"
        "roofline_us,calibrated_us");
  for (const std::string& line : lines) {
    CHECK(std::count(line.begin(), line.end(), ',') == 10);
  }
  // 64 tokens x 4096 x 2 B, once at 1 TB/s, once with 3 us at 0.8 TB/s.
  CHECK(lines[1] == "embedding,1,0,1048576,0,0,1250,start-up,1.048576,4.310720,");
}

TEST_CASE("text: aligned columns, no trailing spaces, assumed figures named") {
  RooflineSetting setting = round_setting(CostLevel::roofline);
  setting.profile.assumed_sections = {"gemm", "all_reduce"};
  const std::string text =
      roofline_text(setting, "64 decodes at context 1024", roofline_rows(setting, kDecode));
  const std::vector<std::string> lines = lines_of(text);
  CHECK(lines[0] == "llama-3-8b on round, 2 GPUs, figures of one of them: 64 decodes at context 1024");
  for (const std::string& line : lines) {
    CHECK((line.empty() || line.back() != ' '));
  }
  const auto header = std::find_if(lines.begin(), lines.end(),
                                   [](const std::string& line) { return line.rfind("operator", 0) == 0; });
  REQUIRE(header != lines.end());
  for (auto line = header + 1; !line->empty(); ++line) {
    CHECK(line->size() == header->size());
  }
  CHECK(text.find(
            "Not measured on this GPU but assumed from a related one (profile round): gemm, all_reduce.") !=
        std::string::npos);
}

TEST_CASE("calibrated: a row of measured times, stars where they are none") {
  const RooflineSetting setting = calibrated_setting();
  const std::vector<RooflineRow> rows = roofline_rows(setting, kDecode);
  const RooflineRow down = named(rows, "down projection");
  REQUIRE(down.calibrated);
  // 4 us and 0.8 of the bandwidth are those of the hand-written kernels, too.
  CHECK(to_seconds(*down.calibrated) == Approx(to_seconds(down.fitted)));
  CHECK(down.ridge == Approx(1000 * 0.5 / 0.8));
  CHECK_FALSE(down.is_marked());
  CHECK(to_seconds(*named(rows, "silu x up").calibrated) == Approx(32 * (2e-6 + 6.0 * 64 * 14336 / 0.4e12)));
  CHECK(named(rows, "silu x up").ridge == Approx(1000 / 0.4));
  CHECK(*named(rows, "sampling").calibrated == named(rows, "sampling").fitted);
  CHECK(named(rows, "lm_head").is_marked());
  CHECK(rows.back().is_marked());
  Duration sum;
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    sum += *rows[i].calibrated;
  }
  CHECK(*rows.back().calibrated == sum);

  const std::string text = roofline_text(setting, "64 decodes at context 1024", rows);
  check_says(text, {"level calibrated (vllm kernels, fitted 2026-11-30)", "calibrated us",
                    "\n* outside the measured range: lm_head with n = 128256, 2 times above the largest "
                    "measured (65536)\n"});
  check_says(text, {"\n* not in the profile, priced by the roofline: sampling\n"});
  CHECK(std::count(text.begin(), text.end(), '*') == 5);  // lm_head, sampling, the step, what the stars say
  for (const std::string& line : lines_of(roofline_csv(rows))) {
    CHECK(line.back() != ',');
  }
}

TEST_CASE("calibrated: what was not measured is named, each reason once") {
  RooflineSetting setting = calibrated_setting();
  setting.model.weight_format = "fp8";
  setting.model.kv_bytes = 1;
  setting.kernels = samples::profile_of({samples::gemm_fit(), samples::decode_fit()});
  const std::string text = roofline_text(setting, "a step", roofline_rows(setting, kDecode));
  check_says(text,
             {"llama-3-8b, weights fp8, KV cache fp8 on round, 1 GPU",
              "\n* not measured in fp8, scaled from bf16 by the roofline: qkv projection, o projection, "
              "gate + up projection and down projection\n",
              "\n* not measured in fp8_kv, scaled from bf16 by the roofline: decode attention\n",
              "\n* not in the profile, priced by the roofline: embedding, norm + residual, rope + kv "
              "write, silu x up and sampling\n"});
}

TEST_CASE("calibrated: a sweep marks each step and names the farthest") {
  const RooflineSetting setting = calibrated_setting();
  std::vector<SweepRow> rows;
  for (const std::int64_t batch : {64, 128, 256}) {
    rows.push_back(
        sweep_row(setting, batch, {.decodes = batch, .decode_context = batch * 100, .sampled_rows = batch}));
  }
  const std::string text = sweep_text(setting, "decodes", "batch", rows);
  check_says(text,
             {"calibrated ms", "decode attention with batch = 256, 4 times above the largest measured (64)"});
  CHECK(text.find("batch = 128") == std::string::npos);
  CHECK(sweep_csv("batch", rows).find(",calibrated_us,largest_operator,") != std::string::npos);
}

TEST_CASE("without measured kernels there is no column and the heading says so") {
  const RooflineSetting setting = round_setting(CostLevel::roofline);
  const std::string text = roofline_text(setting, "a step", roofline_rows(setting, kDecode));
  check_says(text, {"those of level roofline (no vllm kernels were measured on this GPU)"});
  CHECK(text.find("calibrated") == std::string::npos);
}

TEST_CASE("the ridge of products in fp8 is that of their unit") {
  RooflineSetting setting = round_setting(CostLevel::datasheet);
  setting.gpu.fp8_peak = FlopsPerSecond(2e15);
  setting.model.weight_format = "fp8";
  const std::vector<RooflineRow> rows = roofline_rows(setting, kDecode);
  CHECK(named(rows, "o projection").ridge == Approx(2000));
  CHECK(named(rows, "lm_head").ridge == Approx(1000));
}

TEST_CASE("sweep: one line a value in table and CSV") {
  const RooflineSetting setting = round_setting(CostLevel::datasheet);
  std::vector<SweepRow> rows;
  for (const std::int64_t batch : {1, 2, 4}) {
    rows.push_back(
        sweep_row(setting, batch, {.decodes = batch, .decode_context = batch * 100, .sampled_rows = batch}));
  }
  const std::vector<std::string> csv = lines_of(sweep_csv("batch", rows));
  REQUIRE(csv.size() == 4);
  CHECK(csv[0].rfind("batch,tokens,flops,", 0) == 0);
  CHECK(csv[3].rfind("4,4,", 0) == 0);
  CHECK(lines_of(sweep_text(setting, "decodes", "batch", rows)).size() == 3 + 1 + 3 + 2);
}

}  // namespace
}  // namespace inferometer
