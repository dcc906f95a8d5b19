// What read_measurements() refuses, and what it sets apart: broken files and rows, other units, rows that no
// GPU can have measured.

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <zlib.h>

#include "tests/unit/calibration/measurement_test_support.hpp"

namespace inferometer {
namespace {

using test::complaint_about;
using test::Lines;
using test::set_of;
using test::TemporaryDirectory;

const std::string kGemm =
    "# framework=VLLM;version=1;device=NVIDIA H100 80GB HBM3;op_name=gemm\n"
    "gemm_dtype,m,n,k,latency\n";

std::string complaint_about_path(const std::string& path) {
  try {
    read_measurements({path}, {});
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("numbers that no time is are refused, each at its place", "[measurement_errors]") {
  CHECK(complaint_about(kGemm + "bfloat16,1,64,64,nan\n"
                                "bfloat16,1,64,64,inf\n"
                                "bfloat16,1,64,64,0\n"
                                "bfloat16,1,64,64,-0.5\n"
                                "bfloat16,1,64,64,\n"
                                "bfloat16,1,64,64,1e-300\n"
                                "bfloat16,0,64.5,1e13,0.01\n") ==
        "t.csv:3:18: expected latency to be a time in ms, above 0 and at most 1e9, found \"nan\"\n"
        "t.csv:4:18: expected latency to be a time in ms, above 0 and at most 1e9, found \"inf\"\n"
        "t.csv:5:18: expected latency to be a time in ms, above 0 and at most 1e9, found \"0\"\n"
        "t.csv:6:18: expected latency to be a time in ms, above 0 and at most 1e9, found \"-0.5\"\n"
        "t.csv:7:18: expected latency to be a time in ms, above 0 and at most 1e9, found \"\"\n"
        "t.csv:8:18: expected latency to be a time in ms, above 0 and at most 1e9, found \"1e-300\"\n"
        "t.csv:9:10: expected m to be a whole number from 1 to 1e12, found \"0\"\n"
        "t.csv:9:12: expected n to be a whole number from 1 to 1e12, found \"64.5\"\n"
        "t.csv:9:17: expected k to be a whole number from 1 to 1e12, found \"1e13\"");
}

TEST_CASE("rows and header must fit each other", "[measurement_errors]") {
  CHECK(complaint_about(kGemm + "bfloat16,1,64,64\nbfloat16,1,64,64,0.01,7\n") ==
        "t.csv:3: expected 5 cells, as many as the header has, found 4\n"
        "t.csv:4: expected 5 cells, as many as the header has, found 6");
  CHECK(complaint_about("# framework=VLLM;version=1;op_name=gemm\ngemm_dtype,m,n,k,latancy\n") ==
        "t.csv:2: no column \"latency\"; did you mean \"latancy\"?");
  CHECK(complaint_about("# framework=VLLM;version=1;device=NVIDIA L4;op_name=gemm\n"
                        "gemm_dtpe,m,n,latency\nfp8,1,1,1\n") ==
        "t.csv:2: no column \"gemm_dtype\"; did you mean \"gemm_dtpe\"?\n"
        "t.csv:2: no column \"k\"; did you mean \"m\"?");
  CHECK(complaint_about("# framework=VLLM;version=1;op_name=gemm\nm,n,k,M,gemm_dtype,latency\n") ==
        "t.csv:2:7: column \"m\" is there twice");
  CHECK(complaint_about("# framework=VLLM;version\nm,n,k,op_name,gemm_dtype,latency\n") ==
        "t.csv:1: expected name=value in the first line, found \"version\"\n"
        "t.csv:2: no column \"version\"");
}

TEST_CASE("unknown words are refused with those that are known", "[measurement_errors]") {
  CHECK(complaint_about(kGemm + "bfloat61,1,64,64,0.01\n")
            .starts_with(
                "t.csv:3:1: unknown gemm_dtype \"bfloat61\"; did you mean \"bfloat16\"? (known: bfloat16, "));
  CHECK(complaint_about(
            "# framework=LMDeploy;version=1;op_name=gemm\ngemm_dtype,m,n,k,latency\nfp8,1,1,1,1\n") ==
        "t.csv:3: unknown framework \"LMDeploy\" (known: VLLM, TRTLLM and SGLang)");
  CHECK(complaint_about(
            "# framework=VLLM;version=1;device=NVIDIA L4;op_name=context_attention;step=0;head_dim=64\n"
            "batch_size,isl,num_heads,num_key_value_heads,attn_dtype,kv_cache_dtype,latency\n1,1,1,1,fp8,"
            "bfloat16,1\n") ==
        "t.csv:3:13: unknown attn_dtype \"fp8\" over kv_cache_dtype \"bfloat16\" (known: bfloat16 over "
        "bfloat16, float16 "
        "over float16, bfloat16 over fp8, float16 over fp8 and fp8 over fp8)");
  CHECK(
      complaint_about(
          "# framework=VLLM;version=1;device=NVIDIA L4;op_name=moe;moe_dtype=fp8\n"
          "num_tokens,hidden_size,inter_size,topk,num_experts,moe_tp_size,moe_ep_size,distribution,latency\n"
          "1,64,64,9,8,1,1,zipf,0.01\n") ==
      "t.csv:3:9: expected topk to be at most num_experts 8, found 9\n"
      "t.csv:3:17: expected distribution to be balanced or power_law_EXPONENT, found \"zipf\"");
  CHECK(complaint_about(
            "# framework=VLLM;version=1;device=NVIDIA L4;op_name=context_attention;step=0;head_dim=64\n"
            "batch_size,isl,num_heads,num_key_value_heads,attn_dtype,kv_cache_dtype,latency\n"
            "1,1,2,10,bfloat16,bfloat16,1\n") ==
        "t.csv:3:7: expected num_key_value_heads to be at most num_heads 2, found 10");
}

TEST_CASE("of many mistakes twenty are shown and the rest is counted", "[measurement_errors]") {
  std::string text = kGemm;
  for (int i = 0; i < 25; ++i) {
    text += "bfloat16,1,64,64,0\n";
  }
  const std::string what = complaint_about(text);
  CHECK(std::count(what.begin(), what.end(), '\n') == 20);
  CHECK(what.find("t.csv:22:18: ") != std::string::npos);
  CHECK(what.find("t.csv:23:18: ") == std::string::npos);
  CHECK(what.find("t.csv: and 5 more mistakes") != std::string::npos);
}

TEST_CASE("files that are none of ours", "[measurement_errors]") {
  CHECK(complaint_about("") ==
        "t.csv: expected measurements: our JSON lines, a table of aiconfigurator or one of "
        "Vidur; found an empty file");
  CHECK(complaint_about("a,b\n1,2\n") ==
        "t.csv:1: expected measurements: our JSON lines, a table of aiconfigurator or one of Vidur; found "
        "\"a,b\"");
  CHECK(complaint_about_path("/no/such/file") == "/no/such/file: cannot open: No such file or directory");
  CHECK(complaint_about(kGemm, "t.csv", "h200") ==
        ": unknown GPU \"h200\"; did you mean \"h200-sxm\"? (built in: a100-40gb-pcie, a100-40gb-sxm, "
        "a100-80gb-pcie, "
        "a100-80gb-sxm, a10g, b200-sxm, h100-nvl, h100-pcie, h100-sxm, h200-sxm, l4, l40s or mi300x)");
}

TEST_CASE("a folder is read in order of name, and what is of another form passed over",
          "[measurement_errors]") {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory.file("sub"));
  (void)directory.write("b.csv", kGemm + "bfloat16,2,64,64,0.01\n");
  (void)directory.write("sub/a.csv", kGemm + "bfloat16,3,64,64,0.01\n");
  (void)directory.write("a.csv", kGemm + "bfloat16,1,64,64,0.01\n");
  (void)directory.write("readme.txt", "hello\n");
  const std::string profile =
      directory.write("profile.json", "{\n  \"schema\": \"inferometer-profile/1\"\n}\n");
  const auto sets = read_measurements({directory.file("")}, {});
  REQUIRE(sets.size() == 1);
  CHECK(test::calls_of(sets[0]) ==
        Lines{"gemm bf16 m=1 n=64 k=64", "gemm bf16 m=2 n=64 k=64", "gemm bf16 m=3 n=64 k=64"});
  CHECK(sets[0].header.inputs.size() == 3);
  REQUIRE(sets[0].notes.size() == 2);
  CHECK(sets[0].notes[0].ends_with("profile.json: passed over, no measurements of a form we know"));
  CHECK(sets[0].notes[1].ends_with("readme.txt: passed over, no measurements of a form we know"));
  CHECK(complaint_about_path(profile) == profile + ": is a profile of kernels; expected measurements");
}

TEST_CASE("a cut off gzip file is refused, not read in part", "[measurement_errors]") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("t.csv.gz");
  std::string text = kGemm;
  for (int m = 1; m < 2000; ++m) {
    text += "bfloat16," + std::to_string(m) + ",64,64,0.01\n";
  }
  gzFile file = gzopen(path.c_str(), "wb");
  REQUIRE(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
  REQUIRE(gzclose(file) == Z_OK);
  CHECK(read_measurements({path}, {}).front().points.size() == 1999);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  CHECK(complaint_about_path(path) == path + ": the gzip data are cut off");
}

TEST_CASE("a file that is named and lies in a folder that is named is read once", "[measurement_errors]") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("a.csv", kGemm + "bfloat16,1,64,64,0.01\n");
  const auto sets = read_measurements({path, directory.file(""), directory.file("./a.csv")}, {});
  REQUIRE(sets.size() == 1);
  CHECK(sets[0].points.size() == 1);
}

// 2 * 4096^3 FLOP at 989 TFLOPS are 138.97 us; 4096 x 4096 bf16 three times are 100.7 MB, at 3.35 TB/s 30 us.
TEST_CASE("times of another unit are refused", "[measurement_errors]") {
  const auto gemms = [](const std::string& latency) {
    std::string text = kGemm;
    for (int i = 0; i < 5; ++i) {
      text += "bfloat16,4096,4096,4096," + latency + "\n";
    }
    return text;
  };
  CHECK(complaint_about(gemms("0.2")).empty());
  CHECK(complaint_about(gemms("200")) ==
        "t.csv: half of 5 points take 1439 times what the datasheet says or more: the times look like us "
        "instead "
        "of ms, or the GPU is not h100-sxm");
  CHECK(complaint_about(gemms("0.0002")) ==
        "t.csv: half of 5 points take 0.001439 times what the datasheet says or less: the times look like s "
        "instead of "
        "ms, or the GPU is not h100-sxm");
  // 30 times 138.97 us are 4169 us, half of it 69.5 us.
  CHECK(complaint_about(gemms("4.16")).empty());
  CHECK(complaint_about(gemms("4.18")).size() > 0);
  CHECK(complaint_about(gemms("0.0696")).empty());
  CHECK(complaint_about(gemms("0.0694")).size() > 0);
  // Too short for the datasheet to say anything: 0.1 us and 3 ms.
  CHECK(complaint_about(kGemm + "bfloat16,1,64,64,0.000101\n").empty());
  CHECK(complaint_about(kGemm + "bfloat16,1,64,64,0.000099\n").size() > 0);
  CHECK(complaint_about(kGemm + "bfloat16,1,64,64,2.99\n").empty());
  CHECK(complaint_about(kGemm + "bfloat16,1,64,64,5\n") ==
        "t.csv: half of 1 points that the GPU needs less than 10 us for take 5000 us or more: the times "
        "look like us "
        "instead of ms, or the GPU is not h100-sxm");
}

TEST_CASE("rows that are faster than the GPU are set apart", "[measurement_errors]") {
  std::string text = kGemm;
  for (int i = 0; i < 5; ++i) {
    text += "bfloat16,4096,4096,4096,0.2\n";
  }
  // 0.9 times 138.97 us are 125.07 us.
  text += "bfloat16,4096,4096,4096,0.1250\nbfloat16,4096,4096,4096,0.1251\n";
  // Weights of 128 MiB, 40.07 us of memory traffic, 0.9 of it 36.06 us; of 32 MiB, which the L2 cache may
  // hold.
  text += "bfloat16,1,8192,8192,0.0360\nbfloat16,1,8192,8192,0.0361\nbfloat16,1,4096,4096,0.005\n";
  const Measurements set = set_of(text);
  CHECK(set.points.size() == 8);
  REQUIRE(set.suspects.size() == 2);
  CHECK(set.suspects[0].where.line == 8);
  CHECK(set.suspects[0].reason ==
        "gemm bf16 m=4096 n=4096 k=4096 in 125 us; the datasheet allows no less than 138.968 us");
  CHECK(set.suspects[1].where.line == 10);
}

// 16384 tokens to 2 experts each, 4096 x 14336 three times: 6 * 32768 * 4096 * 14336 = 1.1545e13 FLOP, 11.67
// ms at 989 TFLOPS; 0.9 of it 10.506 ms. Which experts four GPUs reach, and so who computes how much, is not
// known.
TEST_CASE("of experts only the arithmetic of one GPU is certain", "[measurement_errors]") {
  const std::string header =
      "# framework=VLLM;version=1;device=NVIDIA H100 80GB HBM3;op_name=moe;moe_dtype=bfloat16\n"
      "num_tokens,hidden_size,inter_size,topk,num_experts,moe_tp_size,moe_ep_size,distribution,latency\n";
  const Measurements whole = set_of(header +
                                    "16384,4096,14336,2,8,1,1,balanced,10.50\n"
                                    "16384,4096,14336,2,8,1,1,balanced,10.51\n");
  CHECK(whole.points.size() == 1);
  REQUIRE(whole.suspects.size() == 1);
  CHECK(whole.suspects[0].where.line == 3);
  // A quarter is 2.92 ms.
  CHECK(set_of(header + "16384,4096,14336,2,8,1,4,power_law_1.2,2.0\n").suspects.empty());
  // Four tokens reach 5.5 of the experts on the average, 575 us of memory traffic, but two when all choose
  // alike.
  CHECK(set_of(header + "4,4096,14336,2,8,1,1,power_law_1.2,0.25\n").suspects.empty());
}

}  // namespace inferometer
