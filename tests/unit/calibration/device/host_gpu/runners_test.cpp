// The runners' checks against kernels that are right, and against kernels that are wrong in one way each. The
// kernels are plain loops over host memory (host_kernels.cpp).

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "calibration/device/cuda_owners.cuh"
#include "calibration/device/gpu_group.hpp"
#include "calibration/device/not_prepared.hpp"
#include "calibration/device/prepared_call.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/calibration/device/host_gpu/fault.hpp"
#include "tests/unit/calibration/device/host_gpu/host_cuda.hpp"

namespace inferometer {
namespace {

using testing::Fault;

constexpr std::uint64_t kSeed = 77;
constexpr std::int64_t kMemoryBytes = std::int64_t{1} << 28;

/// What a device gives its runners.
class Bench {
 public:
  Bench() { kernels::open_gemm_library(library_); }

  RunnerContext context() {
    arena_.reset();
    return {.memory = CallMemory(arena_, timer_.stream()),
            .timer = &timer_,
            .gemm_library = library_.get(),
            .groups = &groups_,
            .device = 0,
            .sm_count = 132,
            .compute_capability = 90,
            .shared_bytes_per_sm = 228 * 1024};
  }

 private:
  Timer timer_{132, 1 << 20};
  DeviceMemory memory_ = allocate(kMemoryBytes);
  Arena arena_{memory_.get(), kMemoryBytes};
  kernels::GemmLibraryPtr library_;
  GpuGroups groups_{0, timer_.stream()};
};

/// One for all cases: a timer measures itself for a while.
Bench& bench() {
  static Bench bench;
  return bench;
}

std::unique_ptr<PreparedCall> prepare(RunnerContext& context, const KernelCall& call) {
  switch (call.family) {
    case KernelFamily::gemm:
      return prepare_gemm(context, call, kSeed);
    case KernelFamily::prefill_attention:
      return prepare_prefill_attention(context, call, kSeed);
    case KernelFamily::decode_attention:
      return prepare_decode_attention(context, call, kSeed);
    case KernelFamily::collective:
      return prepare_collective(context, call, kSeed);
    default:
      return prepare_elementwise(context, call, kSeed);
  }
}

/// As the device verifies: a first run, which is right, fresh outputs, the run that counts.
Verification verify(const KernelCall& call, Fault fault) {
  RunnerContext context = bench().context();
  const std::unique_ptr<PreparedCall> prepared = prepare(context, call);
  prepared->fill();
  require_launched(prepared->launch(nullptr));
  testing::set_fault(fault);
  prepared->refill();
  require_launched(prepared->launch(nullptr));
  testing::set_fault(Fault::none);
  Comparison comparison;
  prepared->check(comparison);
  return comparison.result();
}

KernelCall call_of(KernelFamily family, std::string variant, std::vector<double> axes) {
  KernelCall call{.family = family, .variant = std::move(variant)};
  std::copy(axes.begin(), axes.end(), call.axes.begin());
  return call;
}

void check_finds(const KernelCall& call, std::vector<Fault> faults) {
  INFO(to_string(call));
  const Verification right = verify(call, Fault::none);
  INFO(right.first_wrong);
  CHECK(right.passed);
  CHECK(right.worst_error <= 1);
  for (const Fault fault : faults) {
    INFO("fault " << static_cast<int>(fault));
    CHECK_FALSE(verify(call, fault).passed);
  }
}

TEST_CASE("the check of a GEMM passes what is right and finds what is wrong", "[runners]") {
  check_finds(
      call_of(KernelFamily::gemm, "bf16", {300, 40, 64}),
      {Fault::leaves_last_output, Fault::leaves_inner_output, Fault::five_percent_off, Fault::next_row});
  check_finds(call_of(KernelFamily::gemm, "bf16", {3, 40, 64}),
              {Fault::leaves_last_output, Fault::five_percent_off, Fault::next_row});
  check_finds(call_of(KernelFamily::gemm, "fp8", {50, 48, 64}),
              {Fault::leaves_last_output, Fault::forgets_scale, Fault::next_row});
}

TEST_CASE("fewer outputs are compared of products and contexts that are dear to recompute", "[runners]") {
  CHECK(verify(call_of(KernelFamily::gemm, "bf16", {300, 40, 64}), Fault::none).compared == 32 * 32);
  // A million multiplications: 3 rows by 5 columns of 65536.
  const Verification deep = verify(call_of(KernelFamily::gemm, "fp8", {4, 16, 65536}), Fault::none);
  CHECK(deep.passed);
  CHECK(deep.compared == 3 * 5);
  const auto compared = [](std::vector<double> axes) {
    return verify(call_of(KernelFamily::decode_attention, "bf16", std::move(axes)), Fault::none).compared;
  };
  // Two times 128 elements of each key in sight: 31 rows of 126 keys, one of 4096.
  CHECK(compared({2, 126, 16, 1, 128, 0}) == 31 * 128);
  CHECK(compared({1, 4096, 2, 1, 128, 0}) == 128);
  CHECK(compared({2, 4096, 16, 1, 128, 126}) == 31 * 128);
}

std::string kernel_of(const KernelCall& call) {
  RunnerContext context = bench().context();
  return prepare(context, call)->kernel();
}

TEST_CASE("the fastest GEMM kernel is taken and candidates that do not run are not", "[runners]") {
  auto& duration_ns = testing::host_gpus().duration_ns;
  const auto take = [&](std::int64_t first, std::int64_t second, std::int64_t gemv, double rows) {
    duration_ns["gemm_1"] = first;
    duration_ns["gemm_2"] = second;
    duration_ns["gemv"] = gemv;
    return kernel_of(call_of(KernelFamily::gemm, "bf16", {rows, 16, 32}));
  };
  CHECK(take(20'000, 30'000, 10'000, 4) == "gemv");
  CHECK(take(20'000, 30'000, 25'000, 4) == "cublaslt_candidate_1");
  CHECK(take(30'000, 20'000, 25'000, 4) == "cublaslt_candidate_2");
  CHECK(take(30'000, 20'000, 10'000, 17) == "cublaslt_candidate_2");
  // What cuBLASLt refuses may still run.
  CHECK(kernel_of(call_of(KernelFamily::gemm, "bf16", {4, 12, 32})) == "gemv");
  CHECK_THROWS_AS(kernel_of(call_of(KernelFamily::gemm, "bf16", {17, 12, 32})), NotPrepared);
  duration_ns.clear();
}

TEST_CASE("the check of prefill attention passes what is right and finds what is wrong", "[runners]") {
  //                               batch, tokens, past, heads, kv_heads, head_dim, window
  check_finds(call_of(KernelFamily::prefill_attention, "bf16", {2, 20, 7, 6, 3, 64, 0}),
              {Fault::leaves_last_output, Fault::leaves_inner_output, Fault::five_percent_off,
               Fault::confuses_kv_heads});
  check_finds(call_of(KernelFamily::prefill_attention, "bf16", {1, 30, 40, 4, 2, 64, 16}),
              {Fault::drops_newest_key, Fault::window_too_wide, Fault::confuses_kv_heads});
  check_finds(call_of(KernelFamily::prefill_attention, "bf16", {3, 9, 0, 2, 1, 128, 0}),
              {Fault::leaves_last_output});
}

TEST_CASE("the check of decode attention passes what is right and finds what is wrong", "[runners]") {
  //                              batch, context, heads, kv_heads, head_dim, window
  check_finds(call_of(KernelFamily::decode_attention, "bf16", {16, 90, 6, 3, 64, 0}),
              {Fault::leaves_last_output, Fault::leaves_inner_output, Fault::five_percent_off,
               Fault::confuses_kv_heads, Fault::ignores_block_table, Fault::drops_newest_key});
  check_finds(call_of(KernelFamily::decode_attention, "bf16", {2, 200, 4, 2, 128, 50}),
              {Fault::window_too_wide, Fault::drops_newest_key});
  check_finds(call_of(KernelFamily::decode_attention, "fp8_kv", {2, 100, 4, 2, 64, 0}),
              {Fault::forgets_scale, Fault::leaves_last_output});
  check_finds(call_of(KernelFamily::decode_attention, "bf16", {2, 1, 4, 2, 64, 0}),
              {Fault::five_percent_off});
}

TEST_CASE("the check of the norms passes what is right and finds what is wrong", "[runners]") {
  check_finds(call_of(KernelFamily::elementwise, "norm", {600, 64}),
              {Fault::leaves_last_output, Fault::leaves_inner_output, Fault::five_percent_off});
  check_finds(call_of(KernelFamily::elementwise, "add_norm", {5, 64}),
              {Fault::leaves_last_output, Fault::five_percent_off, Fault::keeps_residual});
}

TEST_CASE("the check of the rotary embedding passes what is right and finds what is wrong", "[runners]") {
  // 4 heads and 1 KV head; 5 and 1; 8 and 2.
  for (const double width : {640.0, 768.0, 1280.0}) {
    check_finds(
        call_of(KernelFamily::elementwise, "rope", {40, width}),
        {Fault::leaves_last_output, Fault::five_percent_off, Fault::turns_backwards, Fault::wrong_slot});
  }
  check_finds(call_of(KernelFamily::elementwise, "rope", {1, 640}), {Fault::wrong_slot});
}

TEST_CASE("the checks of embedding and activation pass what is right and find what is wrong", "[runners]") {
  check_finds(
      call_of(KernelFamily::elementwise, "embedding", {1000, 64}),
      {Fault::leaves_last_output, Fault::leaves_inner_output, Fault::five_percent_off, Fault::next_row});
  check_finds(call_of(KernelFamily::elementwise, "silu_mul", {600, 96}),
              {Fault::leaves_last_output, Fault::leaves_inner_output, Fault::five_percent_off,
               Fault::swaps_gate_and_up});
}

TEST_CASE("the check of sampling passes what is right and finds what is wrong", "[runners]") {
  check_finds(call_of(KernelFamily::elementwise, "argmax", {50, 1000}),
              {Fault::leaves_last_output, Fault::next_row});
  check_finds(call_of(KernelFamily::elementwise, "top_p", {50, 1000}),
              {Fault::leaves_last_output, Fault::halves_nucleus});
}

TEST_CASE("the checks of copies pass what is right and find what is wrong", "[runners]") {
  check_finds(call_of(KernelFamily::elementwise, "kv_copy", {320, 64}),
              {Fault::leaves_last_output, Fault::swaps_from_and_to});
  check_finds(call_of(KernelFamily::elementwise, "copy", {100, 64}),
              {Fault::leaves_last_output, Fault::leaves_inner_output});
}

TEST_CASE("the check of collectives passes what is right and finds what is wrong", "[runners]") {
  testing::host_gpus().gpus = 4;
  check_finds(call_of(KernelFamily::collective, "nccl_all_reduce", {4, 2000}),
              {Fault::leaves_last_output, Fault::leaves_out_a_rank});
  check_finds(call_of(KernelFamily::collective, "nccl_all_reduce", {2, 2000}), {Fault::leaves_out_a_rank});
  check_finds(call_of(KernelFamily::collective, "all_gather", {4, 800}), {Fault::leaves_last_output});
  check_finds(call_of(KernelFamily::collective, "send_recv", {2, 800}), {});
  testing::host_gpus().gpus = 1;
}

TEST_CASE("what has no kernel or no memory is not prepared and says why", "[runners]") {
  struct Refused {
    KernelCall call;
    Prepared::Outcome outcome;
  };
  const Prepared::Outcome unsupported = Prepared::Outcome::unsupported;
  const Prepared::Outcome out_of_memory = Prepared::Outcome::out_of_memory;
  const std::vector<Refused> cases = {
      {call_of(KernelFamily::gemm, "int8", {1, 8, 8}), unsupported},
      {call_of(KernelFamily::gemm, "bf16", {0, 8, 8}), unsupported},
      {call_of(KernelFamily::gemm, "bf16", {1.5, 8, 8}), unsupported},
      {call_of(KernelFamily::gemm, "bf16", {NAN, 8, 8}), unsupported},
      {call_of(KernelFamily::gemm, "bf16", {0x1p31, 0x1p31, 0x1p31}), out_of_memory},
      {call_of(KernelFamily::prefill_attention, "fp8", {1, 8, 0, 1, 1, 64, 0}), unsupported},
      {call_of(KernelFamily::prefill_attention, "bf16", {1, 8, -1, 1, 1, 64, 0}), unsupported},
      {call_of(KernelFamily::decode_attention, "fp8", {1, 8, 1, 1, 64, 0}), unsupported},
      {call_of(KernelFamily::decode_attention, "bf16", {1, 8, 3, 2, 64, 0}), unsupported},
      {call_of(KernelFamily::decode_attention, "bf16", {64, 1e6, 8, 8, 128, 0}), out_of_memory},
      {call_of(KernelFamily::elementwise, "add", {1, 8}), unsupported},
      {call_of(KernelFamily::elementwise, "rope", {1, 200}), unsupported},
      {call_of(KernelFamily::elementwise, "kv_copy", {17, 64}), unsupported},
      {call_of(KernelFamily::elementwise, "copy", {1e6, 1e6}), out_of_memory},
      {call_of(KernelFamily::collective, "nccl_all_reduce", {5, 800}), unsupported},
      {call_of(KernelFamily::collective, "reduce_scatter", {2, 800}), unsupported},
      {call_of(KernelFamily::collective, "send_recv", {3, 800}), unsupported},
      {call_of(KernelFamily::collective, "all_gather", {3, 800}), unsupported},
  };
  for (const Refused& refused : cases) {
    INFO(to_string(refused.call));
    RunnerContext context = bench().context();
    try {
      prepare(context, refused.call);
      CHECK(false);
    } catch (const NotPrepared& why) {
      CHECK(why.outcome() == refused.outcome);
      CHECK_FALSE(std::string(why.what()).empty());
    }
  }
}

}  // namespace
}  // namespace inferometer
