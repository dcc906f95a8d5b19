// Our own files of measurements: what is written is what is read.

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/random.hpp"
#include "calibration/record/header_fields.hpp"
#include "calibration/record/nanoseconds.hpp"
#include "calibration/record/write_measurements.hpp"
#include "tests/support/check_says.hpp"
#include "tests/unit/calibration/measurement_test_support.hpp"

namespace inferometer {
namespace {

using test::complaint_about;
using test::TemporaryDirectory;

/// A set in which every field says something.
Measurements full_set() {
  Measurements set;
  set.header = {.gpu = "h100-sxm",
                .device = "NVIDIA H100 80GB HBM3",
                .library = "inferometer",
                .library_version = "0.1.0",
                .source = "a \"quoted\" \\ source\n",
                .driver_version = "570.1",
                .cuda_runtime_version = "12.8",
                .cublas_version = "12.8.4",
                .nvcc_version = "12.8.93",
                .clocks = "locked 1755 MHz",
                .method = "events; rotated buffers",
                .l2_state = "flushed",
                .source_hash = "sha256:00",
                .revision = "8f3be4c dirty",
                .compute_capability = "9.0",
                .ecc = "on",
                .mig = "off",
                .sm_count = 132,
                .l2_bytes = 52428800,
                .hbm_bytes = 85520809984,
                .power_limit_w = 700,
                .mem_mhz = 2619,
                .uuid_hash = "ab12",
                .host = "node7",
                .utc = "2026-11-30T05:40:00Z",
                .temperature_c = 41.5,
                .sm_mhz_mean = 1754.25,
                .inputs = {"a.csv sha256:11", "b.csv sha256:22"}};
  MeasuredKernel gemm;
  gemm.call = {KernelFamily::gemm, "bf16", {16, 4096, 4096}};
  gemm.seconds = 12.4375e-6;
  gemm.kernel = "sm90_xmma_gemm \xC3\xA9";
  gemm.statistics = {.q1_seconds = 12.4e-6,
                     .q3_seconds = 12.5e-6,
                     .min_seconds = 12.3e-6,
                     .sm_mhz_mean = 1755,
                     .samples = 97,
                     .verified = true};
  set.points.push_back(gemm);
  MeasuredKernel experts;
  experts.call = {KernelFamily::moe, "fp8", {1, 4096, 1536, 128, 8, 1, 1, 1.01}};
  experts.seconds = 0.1 / 3e3;
  set.points.push_back(experts);
  set.skipped.push_back({{KernelFamily::gemm, "fp8", {1, 2, 3}}, "does not fit the memory", {}});
  return set;
}

Measurements read_back(const std::string& text) {
  return test::set_of(text, "t.jsonl");
}

bool same(const MeasuredKernel& a, const MeasuredKernel& b) {
  return a.call == b.call && a.seconds == b.seconds && a.kernel == b.kernel && a.statistics == b.statistics;
}

const std::string kHeader =
    R"({"schema":"inferometer-measurements/1","gpu":"h100-sxm","library":"inferometer"})"
    "\n";

std::string contents_of(const std::string& path) {
  std::ifstream input(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(input), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("a set comes back from its file with every field", "[record]") {
  const Measurements set = full_set();
  const std::string text = record_text(set);
  const Measurements back = read_back(text);
  CHECK(back.header == set.header);
  REQUIRE(back.points.size() == 2);
  CHECK(same(back.points[0], set.points[0]));
  CHECK(same(back.points[1], set.points[1]));
  REQUIRE(back.skipped.size() == 1);
  CHECK(back.skipped[0].call == set.skipped[0].call);
  CHECK(back.skipped[0].reason == "does not fit the memory");
  CHECK(record_text(back) == text);
}

TEST_CASE("the lines of a file are these", "[record]") {
  Measurements set;
  set.header.gpu = "l4";
  set.header.library = "inferometer";
  set.header.sm_count = 58;
  set.points.resize(1);
  set.points[0].call = {KernelFamily::collective, "all_gather", {4, 1048576}};
  set.points[0].seconds = 12.5e-6;
  set.skipped.push_back({{KernelFamily::host, "sample", {8, 1}}, "no CPU", {}});
  CHECK(record_text(set) ==
        "{\"schema\":\"inferometer-measurements/"
        "1\",\"gpu\":\"l4\",\"library\":\"inferometer\",\"sm_count\":58}\n"
        "{\"family\":\"collective\",\"variant\":\"all_gather\",\"gpus\":4,\"bytes\":1048576,"
        "\"time_ns_median\":12500}\n"
        "{\"family\":\"host\",\"variant\":\"sample\",\"sequences\":8,\"gpus\":1,\"skipped\":\"no CPU\"}\n");
}

TEST_CASE("nanoseconds are the seconds with the point moved, whatever the seconds", "[record]") {
  CHECK(nanoseconds_text(1.62085e-05) == "16208.5");
  CHECK(nanoseconds_text(1e-9) == "1");
  CHECK(nanoseconds_text(1.5e-12) == "0.0015");
  CHECK(nanoseconds_text(2) == "2000000000");
  CHECK(seconds_from_nanoseconds("16208.5") == 1.62085e-05);
  CHECK(seconds_from_nanoseconds("1.62085e4") == 1.62085e-05);
  for (const char* wrong : {"", "0", "-1", "nan", "inf", "1e30", "1x", "0.0001"}) {
    INFO(wrong);
    CHECK_FALSE(seconds_from_nanoseconds(wrong).has_value());
  }
  RandomStream dice(1, "nanoseconds");
  for (int i = 0; i < 100'000; ++i) {
    const double seconds = 1e-9 / (dice.uniform() + 1e-9);
    REQUIRE(seconds_from_nanoseconds(nanoseconds_text(seconds)) == seconds);
  }
}

TEST_CASE("a file grows by points of the same set only", "[record]") {
  const TemporaryDirectory directory;
  Measurements set = full_set();
  const std::string path = directory.write("t.jsonl", record_text(set));

  Measurements more = set;
  more.header.utc = "2026-12-01T00:00:00Z";
  more.header.inputs = {"c.csv sha256:33"};
  const Measurements both = read_back(appended_record_text(path, more));
  CHECK(both.points.size() == 4);
  CHECK(both.skipped.size() == 2);
  CHECK(both.header.utc.empty());
  CHECK(both.header.host == "node7");
  CHECK(both.header.inputs ==
        std::vector<std::string>{"a.csv sha256:11", "b.csv sha256:22", "c.csv sha256:33"});

  const auto refusal = [&](const Measurements& other) {
    try {
      appended_record_text(path, other);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  Measurements newer = more;
  newer.header.library_version = "0.2.0";
  CHECK(refusal(newer) ==
        path +
            ":1: the file and what is added describe two sets: library_version \"0.1.0\" and "
            "\"0.2.0\"");
  Measurements capped = more;
  capped.header.power_limit_w = 500;
  CHECK(refusal(capped) ==
        path + ":1: the file and what is added describe two sets: power_limit_w 700 and 500");
  CHECK(refusal(set) == path + ":1: imported into this file before: a.csv sha256:11");
  CHECK(contents_of(path) == record_text(set));
}

TEST_CASE("sets differ in what was measured and how, not in when and where", "[record]") {
  const MeasurementHeader header = full_set().header;
  const std::vector<std::string_view> may_differ = {"uuid_hash", "host", "utc", "temperature_c",
                                                    "sm_mhz_mean"};
  const auto says = [&](const MeasurementHeader& other, std::string_view name) {
    const bool differs = std::find(may_differ.begin(), may_differ.end(), name) == may_differ.end();
    const std::string difference = header_difference(header, other);
    return differs ? difference.starts_with(std::string(name) + " ") : difference.empty();
  };
  for (const HeaderText& field : header_texts()) {
    INFO(field.name);
    MeasurementHeader other = header;
    other.*field.member += "x";
    CHECK(says(other, field.name));
    if (header_difference(header, other).empty()) {
      merge_headers(other, header);
      CHECK((other.*field.member).empty());
    }
  }
  for (const HeaderNumber& field : header_numbers()) {
    INFO(field.name);
    MeasurementHeader other = header;
    other.*field.member += 1;
    CHECK(says(other, field.name));
    if (header_difference(header, other).empty()) {
      merge_headers(other, header);
      CHECK(other.*field.member == 0);
    }
  }
}

TEST_CASE("a set is split by family, each with the inputs of its points", "[record]") {
  Measurements whole = full_set();
  whole.points[0].where.file = "a.csv";
  whole.points[1].where.file = "b.csv";
  whole.skipped[0].where.file = "c.csv";
  whole.inputs_by_file = {{"a.csv", {"a.csv sha256:11"}}, {"b.csv", {"b.csv sha256:22"}}};
  const std::vector<Measurements> parts = split_by_family(whole);
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].points.size() == 1);
  CHECK(parts[0].skipped.size() == 1);
  CHECK(parts[1].points[0].call.family == KernelFamily::moe);
  CHECK(parts[0].header.inputs == std::vector<std::string>{"a.csv sha256:11"});
  CHECK(parts[1].header.inputs == std::vector<std::string>{"b.csv sha256:22"});
  CHECK(parts[1].header.host == "node7");
  CHECK(record_file_name(parts[1].header, KernelFamily::moe) == "h100-sxm.inferometer.moe.jsonl");
}

TEST_CASE("a record says which GPU it is about", "[record]") {
  const Measurements set = test::set_of(kHeader, "a100_sxm.jsonl", "l4");
  CHECK(set.header.gpu == "h100-sxm");
  REQUIRE(set.notes.size() == 1);
  CHECK(set.notes[0].ends_with("a100_sxm.jsonl: taken for h100-sxm, as the file or its path says, not l4"));
}

TEST_CASE("points whose kernel was wrong are suspects", "[record]") {
  const Measurements set = read_back(
      kHeader +
      R"({"family":"gemm","variant":"bf16","m":1,"n":64,"k":64,"time_ns_median":5000,"verification":"failed"})"
      "\n");
  CHECK(set.points.empty());
  REQUIRE(set.suspects.size() == 1);
  CHECK(set.suspects[0].reason == "gemm bf16 m=1 n=64 k=64: its result was wrong");
  CHECK(set.suspects[0].where.line == 2);
}

TEST_CASE("mistakes in a header", "[record]") {
  CHECK(complaint_about("{}\n", "t.jsonl") ==
        "t.jsonl:1: expected \"schema\" to be \"inferometer-measurements/1\"");
  CHECK(complaint_about(R"({"schema":"inferometer-measurements/2"})", "t.jsonl") ==
        "t.jsonl:1: expected \"schema\" to be \"inferometer-measurements/1\", found "
        "\"inferometer-measurements/2\"");
  CHECK(complaint_about(
            R"({"schema":"inferometer-measurements/1","gpus":"l4","library":"../x","sm_count":"58"})",
            "t.jsonl") ==
        "t.jsonl:1: expected \"sm_count\" to be a number\n"
        "t.jsonl:1: expected \"gpu\", found none\n"
        "t.jsonl:1: unknown member \"gpus\"; did you mean \"gpu\"?");
  CHECK(
      complaint_about(R"({"schema":"inferometer-measurements/1","gpu":"l4","library":"../x"})", "t.jsonl") ==
      "t.jsonl:1: expected \"library\" to be of letters, digits, '-', '_' and '.', found \"../x\"");
  CHECK(complaint_about(R"({"schema":"inferometer-measurements/1","gpu":"l5","library":"x"})", "t.jsonl")
            .starts_with("t.jsonl:1: unknown GPU \"l5\"; did you mean \"l4\"? (built in: a100-40gb-pcie, "));
  CHECK(complaint_about("{\"schema\":\n", "t.jsonl") ==
        "t.jsonl:1: expected one JSON object of numbers, texts and lists of texts on the line, found "
        "something else: "
        "cut off, misspelt, or more behind it");
}

TEST_CASE("axes that are each in their range, but not together", "[record]") {
  const auto complaint_of_point = [](const std::string& call) {
    return complaint_about(kHeader + "{" + call + ",\"time_ns_median\":20000}\n", "t.jsonl");
  };
  check_says(
      complaint_of_point(R"("family":"decode_attention","variant":"bf16","batch":1,"context":16,"heads":4,)"
                         R"("kv_heads":8,"head_dim":128,"window":0)"),
      {"expected \"kv_heads\" to be at most \"heads\""});
  check_says(complaint_of_point(R"("family":"collective","variant":"all_reduce","gpus":1,"bytes":1024)"),
             {"expected \"gpus\" to be 2 or more"});
}

TEST_CASE("mistakes in points, all of them together", "[record]") {
  CHECK(
      complaint_about(
          kHeader +
              "{\"family\":\"gem\"}\n"
              "{\"family\":\"gemm\",\"variant\":\"bf15\",\"m\":0,\"n\":1.5,\"k\":64,\"time_ns_median\":-1}\n"
              "{\"family\":\"gemm\",\"variant\":\"bf16\",\"m\":1,\"n\":1,\"kk\":64,\"time_ns_median\":5}\n"
              "{\"family\":\"gemm\",\"variant\":\"bf16\",\"m\":1,\"m\":1,\"n\":1,\"k\":64}\n"
              "{\"family\":\"gemm\",\"variant\":\"bf16\",\"m\":1,\"n\":1,\"k\":64}\n",
          "t.jsonl") ==
      "t.jsonl:2: unknown family \"gem\"; did you mean \"gemm\"? (known: gemm, prefill_attention, "
      "decode_attention, "
      "moe, mla_prefill, mla_decode, elementwise, collective and host)\n"
      "t.jsonl:3: unknown variant \"bf15\" of gemm; did you mean \"bf16\"? (known: bf16, fp8, fp8_block, "
      "fp4, int8, "
      "mxfp4, int8_weights, int4_weights, mxfp4_weights and fp4_weights)\n"
      "t.jsonl:3:39: expected \"m\" to be a whole number from 1 to 1000000000000, found 0\n"
      "t.jsonl:3:45: expected \"n\" to be a whole number from 1 to 1000000000000, found 1.5\n"
      "t.jsonl:3:73: expected \"time_ns_median\" to be a number from 0.001 to 1e15, found \"-1\"\n"
      "t.jsonl:4: expected \"k\", found none\n"
      "t.jsonl:4:52: unknown member \"kk\"; did you mean \"k\"?\n"
      "t.jsonl:5: expected \"m\" once, found it twice\n"
      "t.jsonl:6: expected \"time_ns_median\", found none");
}

}  // namespace inferometer
