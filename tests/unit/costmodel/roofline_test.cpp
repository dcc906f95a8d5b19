#include "costmodel/roofline.hpp"

#include "base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sample_specs.hpp"

namespace inferometer {
namespace {

Roofline round_roofline(CostLevel level, std::int64_t tensor_parallel = 1) {
  return {samples::round_gpu(), samples::round_profile(), level, in_one_node(tensor_parallel)};
}

TEST_CASE("datasheet: the larger roof, no start-up") {
  const Roofline roofline = round_roofline(CostLevel::datasheet);
  const Operator product{
      .name = "product", .family = OperatorFamily::gemm, .flops = Flops(5e9), .hbm_bytes = Bytes(4'000'000)};
  const RoofTimes times = roofline.time(product);
  CHECK(times.start_up == Duration());
  CHECK(times.compute == microseconds(5));    // 5e9 / 1e15
  CHECK(times.bandwidth == microseconds(4));  // 4e6 / 1e12
  CHECK(times.total() == microseconds(5));
  CHECK(roofline.roofs(OperatorFamily::gemm).ridge_point() == Approx(1000));
}

TEST_CASE("roofline: start-up plus the larger fitted roof") {
  const Roofline roofline = round_roofline(CostLevel::roofline);
  const Operator product{
      .name = "product", .family = OperatorFamily::gemm, .flops = Flops(5e9), .hbm_bytes = Bytes(4'000'000)};
  const RoofTimes times = roofline.time(product);
  CHECK(times.start_up == microseconds(4));
  CHECK(times.compute == microseconds(10));   // half the peak
  CHECK(times.bandwidth == microseconds(5));  // 0.8 of the bandwidth
  CHECK(times.total() == microseconds(14));
  CHECK(bound_of(times) == Bound::compute);
  CHECK(roofline.roofs(OperatorFamily::gemm).ridge_point() == Approx(625));
}

TEST_CASE("decode attention starts up slower with more sequences and heads") {
  const Operator attention{.name = "attention",
                           .family = OperatorFamily::decode_attention,
                           .flops = Flops(4e9),
                           .hbm_bytes = Bytes(90'000'000),
                           .sequence_heads = 512};
  const RoofTimes times = round_roofline(CostLevel::roofline).time(attention);
  CHECK(times.start_up == microseconds(10) + nanoseconds(512 * 20));
  CHECK(times.compute == microseconds(10));
  CHECK(times.bandwidth == microseconds(100));
  CHECK(bound_of(times) == Bound::bandwidth);

  Operator beside = attention;
  beside.shares_launch = true;
  CHECK(round_roofline(CostLevel::roofline).time(beside).start_up == nanoseconds(512 * 20));
  CHECK(round_roofline(CostLevel::datasheet).time(attention).start_up == Duration());
}

TEST_CASE("prefill attention pays for whole tiles of keys") {
  const Operator attention{.name = "attention",
                           .family = OperatorFamily::prefill_attention,
                           .flops = Flops(5e9),
                           .flops_per_key = Flops(1e8)};
  // 5e9 + 1e8 * (101 - 1) / 2 = 1e10 FLOPs at a quarter of 1e15.
  CHECK(round_roofline(CostLevel::roofline).time(attention).compute == microseconds(40));
  CHECK(round_roofline(CostLevel::datasheet).time(attention).compute == microseconds(5));
}

TEST_CASE("a whole prompt of s tokens costs s (s + T0) / 2 pairs") {
  const ChunkShape prompt{1000, 0};
  const Operator attention = prefill_attention(samples::llama_3_8b(), 1, {&prompt, 1});
  const double pairs = 1000.0 * (1000 + 101) / 2;
  const Duration expected = Flops(4 * 4096 * pairs) / FlopsPerSecond(0.25e15);
  CHECK(round_roofline(CostLevel::roofline).time(attention).compute == expected);
}

TEST_CASE("collectives: start-up and share of the link by the number of GPUs") {
  const Operator gather{
      .name = "gather", .family = OperatorFamily::collective, .link_bytes = Bytes(1'000'000)};
  CHECK(round_roofline(CostLevel::datasheet, 2).time(gather).total() ==
        microseconds(10));  // 1 MB at 100 GB/s
  CHECK(round_roofline(CostLevel::roofline, 2).time(gather).total() == microseconds(5 + 20));
  CHECK(round_roofline(CostLevel::roofline, 8).time(gather).total() == nanoseconds(7'000 + 12'500));
  // Three GPUs use the constants of four.
  CHECK(round_roofline(CostLevel::roofline, 3).time(gather).communication ==
        round_roofline(CostLevel::roofline, 4).time(gather).communication);
  CHECK(bound_of(round_roofline(CostLevel::roofline, 2).time(gather)) == Bound::communication);
}

TEST_CASE("without NVLink collectives go over PCI Express") {
  GpuSpec gpu = samples::round_gpu();
  gpu.nvlink_per_direction.reset();
  gpu.pcie_per_direction = BytesPerSecond(25e9);
  const Operator gather{
      .name = "gather", .family = OperatorFamily::collective, .link_bytes = Bytes(1'000'000)};
  CHECK(Roofline(gpu, samples::round_profile(), CostLevel::datasheet, in_one_node(2)).time(gather).total() ==
        microseconds(40));
}

TEST_CASE("products in fp8 compute as fast as the unit for it, where there is one") {
  const auto compute = [](std::string_view format, std::optional<FlopsPerSecond> fp8_peak) {
    GpuSpec gpu = samples::round_gpu();
    gpu.fp8_peak = fp8_peak;
    ModelSpec model = samples::llama_3_8b();
    model.weight_format = format;
    const Roofline roofline(gpu, samples::round_profile(), CostLevel::datasheet, in_one_node(1));
    const std::vector<Operator> list = token_operators(model, 1, 1000);
    for (const Operator& part : list) {
      if (part.name == "o projection") {
        return roofline.time(part).compute;
      }
    }
    return Duration();
  };
  const Duration in_bf16 = compute("bf16", FlopsPerSecond(2e15));
  CHECK(to_seconds(in_bf16) == Approx(2.0 * 1000 * 4096 * 4096 / 1e15));
  CHECK(to_seconds(compute("fp8", FlopsPerSecond(2e15))) == Approx(to_seconds(in_bf16) / 2));
  CHECK(compute("fp8", std::nullopt) == in_bf16);
  CHECK(compute("int4_weights", FlopsPerSecond(2e15)) == in_bf16);
}

TEST_CASE("an operator is bound by start-up when that is the larger part") {
  const RoofTimes small{
      .start_up = microseconds(3), .compute = microseconds(1), .bandwidth = microseconds(2)};
  CHECK(bound_of(small) == Bound::start_up);
  CHECK(to_string(bound_of(small)) == "start-up");
}

TEST_CASE("arithmetic intensity") {
  CHECK(arithmetic_intensity(Flops(300), Bytes(100)) == 3);
  CHECK(arithmetic_intensity(Flops(0), Bytes(0)) == 0);
}

TEST_CASE("the same operator never takes less at level roofline than at level datasheet") {
  const ChunkShape chunk{300, 1000};
  const StepShape shape{.decodes = 17, .decode_context = 5000, .sampled_rows = 18, .chunks = {&chunk, 1}};
  for (const Operator& part : step_operators(samples::llama_3_8b(), 2, shape)) {
    CAPTURE(part.name);
    CHECK(round_roofline(CostLevel::datasheet, 2).time(part).total() <=
          round_roofline(CostLevel::roofline, 2).time(part).total());
  }
}

}  // namespace
}  // namespace inferometer
