// The device of calibration on a GPU: one small call of every kernel is prepared, compared with the reference
// and timed, as a sweep does it.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "calibration/measure/open_device.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

constexpr std::uint64_t kSeed = 20261130;

/// GPU 0; nullptr, and a line that says why, where it cannot be had.
std::unique_ptr<KernelDevice> opened_or_skipped(KernelProvider provider) {
  setenv("INFEROMETER_CUDA_MODULE", INFEROMETER_CUDA_MODULE_FILE, 1);
  try {
    return open_device(0, provider);
  } catch (const ConfigError& refusal) {
    std::cout << "skipped: " << refusal.diagnostics().front().message << "\n";
    return nullptr;
  }
}

/// Ours, opened when it is first asked for. It is closed for a while where another takes the GPU's memory.
std::unique_ptr<KernelDevice>& own_device() {
  static std::unique_ptr<KernelDevice> opened;
  return opened;
}

KernelDevice* device() {
  static bool is_there = true;
  if (is_there && own_device() == nullptr) {
    own_device() = opened_or_skipped(KernelProvider::inferometer);
    is_there = own_device() != nullptr;
  }
  return own_device().get();
}

KernelCall call_of(KernelFamily family, std::string variant, std::vector<double> axes) {
  KernelCall call{.family = family, .variant = std::move(variant)};
  std::copy(axes.begin(), axes.end(), call.axes.begin());
  return call;
}

void check_measured_on(KernelDevice& on, const KernelCall& call) {
  INFO(to_string(call));
  const Prepared prepared = on.prepare(call, kSeed);
  INFO(prepared.reason);
  REQUIRE(prepared.outcome == Prepared::Outcome::ready);
  CHECK_FALSE(prepared.kernel.empty());
  const Verification verification = on.verify();
  INFO(verification.first_wrong);
  CHECK(verification.passed);
  CHECK(verification.compared > 0);
  for (int i = 0; i < 3; ++i) {
    const TimedRun run = on.run();
    CHECK(std::isfinite(run.seconds));
    CHECK(run.seconds > 0);
    CHECK(run.seconds < 1);
    CHECK((run.sm_mhz == 0 || (run.sm_mhz > 100 && run.sm_mhz < 5000)));
  }
}

/// One that every supported GPU can run.
void check_measured(const KernelCall& call) {
  if (device() != nullptr) {
    check_measured_on(*device(), call);
  }
}

void check_refused(const KernelCall& call, Prepared::Outcome outcome) {
  if (device() == nullptr) {
    return;
  }
  INFO(to_string(call));
  const Prepared prepared = device()->prepare(call, kSeed);
  INFO(prepared.reason);
  CHECK(prepared.outcome == outcome);
  CHECK_FALSE(prepared.reason.empty());
}

bool has_fp8() {
  const std::string capability = device() == nullptr ? "" : device()->header().compute_capability;
  return capability == "8.9" || capability >= "9.0";
}

TEST_CASE("the device says what it is", "[device]") {
  if (device() == nullptr) {
    return;
  }
  const MeasurementHeader header = device()->header();
  CHECK_FALSE(header.device.empty());
  CHECK(header.library == "inferometer");
  CHECK(header.source_hash.starts_with("sha256:"));
  CHECK(header.uuid_hash.starts_with("sha256:"));
  CHECK_FALSE(header.cublas_version.empty());
  CHECK(header.sm_count > 0);
  CHECK(header.l2_bytes > 1e6);
  CHECK(header.hbm_bytes > device()->memory_bytes());
  CHECK(device()->memory_bytes() > 1e8);
  CHECK(device()->full_sm_mhz() > 100);
  // Two of one run are of one set.
  const MeasurementHeader again = device()->header();
  CHECK(again.clocks == header.clocks);
  CHECK(again.method == header.method);
  CHECK(again.mem_mhz == header.mem_mhz);
  device()->state();
}

TEST_CASE("a GEMM of many rows and one of few and one of fp8 are measured", "[device]") {
  check_measured(call_of(KernelFamily::gemm, "bf16", {384, 512, 1024}));
  check_measured(call_of(KernelFamily::gemm, "bf16", {1, 512, 1024}));
  check_measured(call_of(KernelFamily::gemm, "bf16", {16, 4096, 4096}));
  if (has_fp8()) {
    check_measured(call_of(KernelFamily::gemm, "fp8", {384, 512, 1024}));
    check_measured(call_of(KernelFamily::gemm, "fp8", {4, 512, 1024}));
  }
}

TEST_CASE("prefill attention is measured", "[device]") {
  //                                            batch, tokens, past, heads, kv_heads, head_dim, window
  check_measured(call_of(KernelFamily::prefill_attention, "bf16", {2, 300, 0, 8, 2, 128, 0}));
  check_measured(call_of(KernelFamily::prefill_attention, "bf16", {1, 129, 500, 4, 4, 64, 0}));
  check_measured(call_of(KernelFamily::prefill_attention, "bf16", {1, 700, 100, 4, 1, 128, 256}));
}

TEST_CASE("prefill attention of cuDNN is measured where it is installed", "[device]") {
  own_device().reset();
  const std::unique_ptr<KernelDevice> of_cudnn = opened_or_skipped(KernelProvider::cudnn);
  if (of_cudnn == nullptr) {
    return;
  }
  CHECK(of_cudnn->header().library == "cudnn");
  CHECK(of_cudnn->header().library_version.starts_with("9."));
  //             batch, tokens, past, heads, kv_heads, head_dim, window
  for (const std::vector<double>& axes : {std::vector<double>{2, 300, 0, 8, 2, 128, 0},
                                          {1, 129, 500, 4, 4, 64, 0},
                                          {1, 700, 100, 4, 1, 128, 256},
                                          {1, 2048, 0, 4, 1, 128, 256}}) {
    check_measured_on(*of_cudnn, call_of(KernelFamily::prefill_attention, "bf16", axes));
  }
  const Prepared product = of_cudnn->prepare(call_of(KernelFamily::gemm, "bf16", {384, 512, 1024}), kSeed);
  CHECK(product.outcome == Prepared::Outcome::unsupported);
}

TEST_CASE("decode attention is measured", "[device]") {
  //                                           batch, context, heads, kv_heads, head_dim, window
  check_measured(call_of(KernelFamily::decode_attention, "bf16", {3, 1000, 8, 2, 128, 0}));
  check_measured(call_of(KernelFamily::decode_attention, "bf16", {1, 9001, 8, 1, 64, 0}));
  check_measured(call_of(KernelFamily::decode_attention, "bf16", {2, 1000, 4, 4, 128, 300}));
  check_measured(call_of(KernelFamily::decode_attention, "fp8_kv", {3, 1000, 8, 2, 128, 0}));
}

TEST_CASE("elementwise kernels are measured", "[device]") {
  for (const double tokens : {1.0, 77.0, 1024.0}) {
    for (const std::string variant : {"embedding", "norm", "add_norm", "silu_mul", "copy"}) {
      check_measured(call_of(KernelFamily::elementwise, variant, {tokens, 4096}));
    }
    // 32 heads and 8 KV heads; 8 heads and 1 KV head.
    check_measured(call_of(KernelFamily::elementwise, "rope", {tokens, 5120}));
    check_measured(call_of(KernelFamily::elementwise, "rope", {tokens, 1152}));
  }
  check_measured(call_of(KernelFamily::elementwise, "kv_copy", {1024, 2048}));
}

TEST_CASE("sampling is measured", "[device]") {
  for (const double rows : {1.0, 40.0}) {
    check_measured(call_of(KernelFamily::elementwise, "argmax", {rows, 32000}));
    check_measured(call_of(KernelFamily::elementwise, "top_p", {rows, 32000}));
  }
}

TEST_CASE("collectives are measured or refused with a reason", "[device]") {
  if (device() == nullptr) {
    return;
  }
  for (const std::string variant : {"nccl_all_reduce", "all_gather", "send_recv"}) {
    const KernelCall call = call_of(KernelFamily::collective, variant, {2, 1 << 20});
    const Prepared prepared = device()->prepare(call, kSeed);
    if (prepared.outcome == Prepared::Outcome::ready) {
      check_measured(call);
    } else {
      CHECK(prepared.outcome == Prepared::Outcome::unsupported);
      CHECK_FALSE(prepared.reason.empty());
    }
  }
}

TEST_CASE("what cannot be run is refused and the device goes on", "[device]") {
  check_refused(call_of(KernelFamily::gemm, "int4_weights", {16, 512, 512}), Prepared::Outcome::unsupported);
  check_refused(call_of(KernelFamily::gemm, "bf16", {16, 512, 513}), Prepared::Outcome::unsupported);
  check_refused(call_of(KernelFamily::gemm, "bf16", {16, 512, 0.5}), Prepared::Outcome::unsupported);
  check_refused(call_of(KernelFamily::moe, "bf16", {1, 1, 1, 1, 1, 1, 1}), Prepared::Outcome::unsupported);
  check_refused(call_of(KernelFamily::elementwise, "copy", {1e9, 4096}), Prepared::Outcome::out_of_memory);
  check_measured(call_of(KernelFamily::elementwise, "copy", {64, 4096}));
}

TEST_CASE("a call takes the same time however often it is prepared", "[device]") {
  if (device() == nullptr) {
    return;
  }
  // 128 MiB in, 128 MiB out: longer than any timer's step, and of memory only.
  const KernelCall copy = call_of(KernelFamily::elementwise, "copy", {16384, 4096});
  std::vector<double> medians;
  for (int i = 0; i < 2; ++i) {
    REQUIRE(device()->prepare(copy, kSeed).outcome == Prepared::Outcome::ready);
    std::vector<double> seconds;
    for (int sample = 0; sample < 15; ++sample) {
      seconds.push_back(device()->run().seconds);
    }
    std::nth_element(seconds.begin(), seconds.begin() + 7, seconds.end());
    medians.push_back(seconds[7]);
  }
  CHECK(medians[0] == Approx(medians[1]).epsilon(0.1));
}

}  // namespace
}  // namespace inferometer
