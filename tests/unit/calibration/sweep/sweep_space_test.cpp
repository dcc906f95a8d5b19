#include "calibration/sweep/sweep_space.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "costmodel/kernels/kernel_work.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

SweepTarget target(const char* gpu, double memory_bytes = 60e9, int gpus = 1) {
  return {load_gpu(gpu), memory_bytes, gpus};
}

bool holds(const std::vector<SweptKind>& kinds, const SweptKind& kind) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

double axis(const KernelCall& call, const char* name) {
  return call.axes[axis_index(call.family, name)];
}

TEST_CASE("fp8 products are swept where the chip has such a unit, collectives among several GPUs") {
  CHECK(holds(swept_kinds(target("h100-sxm")), {KernelFamily::gemm, "fp8"}));
  CHECK_FALSE(holds(swept_kinds(target("a100-80gb-sxm")), {KernelFamily::gemm, "fp8"}));
  CHECK(holds(swept_kinds(target("a100-80gb-sxm")), {KernelFamily::decode_attention, "fp8_kv"}));
  CHECK_FALSE(holds(swept_kinds(target("h100-sxm")), {KernelFamily::collective, "all_gather"}));
  CHECK(holds(swept_kinds(target("h100-sxm", 60e9, 8)), {KernelFamily::collective, "all_gather"}));
}

TEST_CASE("of cuDNN only prefill attention is swept") {
  SweepTarget of_cudnn = target("h100-sxm", 60e9, 8);
  of_cudnn.provider = KernelProvider::cudnn;
  CHECK(swept_kinds(of_cudnn) == std::vector<SweptKind>{{KernelFamily::prefill_attention, "bf16"}});
}

TEST_CASE("a space has each call once, in order, of a family and variant that files know") {
  const SweepTarget on = target("h100-sxm", 60e9, 8);
  for (const SweptKind& kind : swept_kinds(on)) {
    const std::vector<KernelCall> calls = sweep_space(kind, on);
    INFO(to_string(kind.family) << " " << kind.variant);
    CHECK(calls.size() >= 30);
    const auto variants = info(kind.family).variants;
    CHECK(std::find(variants.begin(), variants.end(), kind.variant) != variants.end());
    CHECK(std::is_sorted(calls.begin(), calls.end(),
                         [](const KernelCall& a, const KernelCall& b) { return a.axes < b.axes; }));
    std::set<std::array<double, kMostAxes>> different;
    for (const KernelCall& call : calls) {
      different.insert(call.axes);
    }
    CHECK(different.size() == calls.size());
  }
}

TEST_CASE("what does not fit into the memory is not in the space") {
  const SweptKind decode{KernelFamily::decode_attention, "bf16"};
  const auto small = sweep_space(decode, target("h100-sxm", 1e9));
  const auto large = sweep_space(decode, target("h100-sxm", 60e9));
  CHECK(small.size() < large.size());
  CHECK(std::all_of(small.begin(), small.end(),
                    [](const KernelCall& call) { return kernel_work(call).hbm_bytes <= 1e9; }));
  CHECK(std::any_of(large.begin(), large.end(),
                    [](const KernelCall& call) { return kernel_work(call).hbm_bytes > 30e9; }));
}

TEST_CASE("attention calls are such as kernels accept") {
  const SweepTarget on = target("h100-sxm");
  for (const char* name : {"prefill_attention", "decode_attention"}) {
    for (const KernelCall& call : sweep_space({*kernel_family_from(name), "bf16"}, on)) {
      const double heads = axis(call, "heads"), kv_heads = axis(call, "kv_heads");
      const double length = call.family == KernelFamily::decode_attention
                                ? axis(call, "context")
                                : axis(call, "tokens") + axis(call, "past");
      if (static_cast<int>(heads) % static_cast<int>(kv_heads) != 0 || axis(call, "window") > length) {
        FAIL_CHECK(to_string(call));
      }
    }
  }
}

TEST_CASE("copies of the KV cache are of whole blocks") {
  for (const KernelCall& call : sweep_space({KernelFamily::elementwise, "kv_copy"}, target("h100-sxm"))) {
    REQUIRE(std::fmod(axis(call, "tokens"), 16) == 0);
  }
}

TEST_CASE("rows lie on both sides of the edges of tiles") {
  std::set<double> rows;
  for (const KernelCall& call : sweep_space({KernelFamily::gemm, "bf16"}, target("h100-sxm"))) {
    rows.insert(call.axes[0]);
  }
  for (const double edge : {16.0, 32.0, 64.0, 128.0, 256.0}) {
    CHECK(rows.contains(edge));
    CHECK(rows.contains(edge + 1));
  }
}

}  // namespace
}  // namespace inferometer
