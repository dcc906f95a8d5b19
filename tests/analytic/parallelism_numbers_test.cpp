// Tensor and pipeline parallelism beside what can be said on paper.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "costmodel/pipeline.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

constexpr PricerLimits kLimits{.max_tokens = 2048, .max_rows = 256};
/// 400 Gb/s for each GPU; the latency is assumed.
constexpr GpuLink kInfiniBand{BytesPerSecond(50e9), microseconds(5)};

CostOptions gpu_alone(CostLevel level = CostLevel::roofline) {
  CostOptions options;
  options.level = level;
  options.host_fixed = Duration();
  options.host_per_sequence = Duration();
  return options;
}

Parallelism on_infiniband(std::int64_t tensor) {
  Parallelism parallelism = over_nodes(tensor);
  parallelism.between_nodes = kInfiniBand;
  return parallelism;
}

StepShape decode(std::int64_t batch, std::int64_t context) {
  return {.decodes = batch, .decode_context = batch * context, .sampled_rows = batch};
}

StepCost cost(const char* model, std::int64_t tensor, const StepShape& shape,
              CostLevel level = CostLevel::roofline) {
  return make_step_pricer(load_model(model), load_gpu("h100-sxm"), on_infiniband(tensor), gpu_alone(level),
                          kLimits)
      ->price(shape);
}

TEST_CASE("decode of a small model is slower over two nodes than over one") {
  // 16 GB of weights: a GPU of 8 reads its share in 0.7 ms, one of 16 in 0.35 ms. The 64 all-reduces of a
  // step pay two messages of 5 us between the nodes: 0.64 ms.
  for (const std::int64_t batch : {1, 16, 64}) {
    const StepCost one_node = cost("llama-3-8b", 8, decode(batch, 1000));
    const StepCost two_nodes = cost("llama-3-8b", 16, decode(batch, 1000));
    CAPTURE(batch);
    CHECK(two_nodes.total() > one_node.total());
    CHECK(two_nodes.communication - one_node.communication >= microseconds(2 * 5 * 64));
    CHECK(two_nodes.bandwidth < one_node.bandwidth);
  }
}

TEST_CASE("decode of a model of 405 billion gains from a second node") {
  // 101 GB a GPU of 8, 30 ms at the datasheet; half of that is worth more than 252 all-reduces of 10 us more.
  const StepCost one_node = cost("llama-3.1-405b", 8, decode(1, 1000));
  const StepCost two_nodes = cost("llama-3.1-405b", 16, decode(1, 1000));
  CHECK(two_nodes.total() < one_node.total());
  CHECK(one_node.total() - two_nodes.total() > milliseconds(10));
}

TEST_CASE("a long prefill is slower over nodes the slower the link") {
  const ChunkShape prompt{2048, 0};
  const StepShape shape{.chunks = {&prompt, 1}};
  const auto price = [&](double gigabytes_per_s) {
    Parallelism parallelism = on_infiniband(16);
    parallelism.between_nodes = GpuLink{BytesPerSecond(gigabytes_per_s * 1e9), microseconds(5)};
    return make_step_pricer(load_model("llama-3.1-70b"), load_gpu("h100-sxm"), parallelism,
                            gpu_alone(CostLevel::datasheet), kLimits)
        ->price(shape);
  };
  CHECK(price(50).total() < price(25).total());
  CHECK(price(25).total() < price(5).total());
  // 160 all-reduces of 2048 x 8192 x 2 B. At 5 GB/s between nodes the levels take, each way and back, 7/8 of
  // the array in the node at 450 GB/s and a sixteenth between nodes with its 5 us; both twice.
  const double bytes = 2048.0 * 8192 * 2;
  const double expected_s = 160 * 2 * (bytes * 7 / 8 / 450e9 + 5e-6 + bytes / 16 / 5e9);
  CHECK(to_seconds(price(5).communication) == Approx(expected_s).epsilon(1e-6));
}

/// Price of a step in each stage.
std::vector<Duration> stage_times(const char* model, std::int64_t tensor, std::int64_t pipeline,
                                  const StepShape& shape) {
  Parallelism parallelism = on_infiniband(tensor);
  parallelism.pipeline = pipeline;
  parallelism.stages_in_node = false;
  std::vector<Duration> times;
  for (const auto& stage : make_stage_pricers(load_model(model), load_gpu("h100-sxm"), parallelism,
                                              gpu_alone(CostLevel::datasheet), kLimits)) {
    times.push_back(stage->price(shape).total());
  }
  return times;
}

TEST_CASE("a full pipeline of equal stages works off a step in its share of the whole") {
  // 80 layers over 1, 2, 4 and 8 stages: the slowest has its share of the layers, and embedding or head and a
  // send. At a batch of 64 these are small beside twenty layers.
  const StepShape shape = decode(64, 1000);
  const Duration whole = stage_times("llama-3.1-70b", 8, 1, shape).front();
  for (const std::int64_t pipeline : {1, 2, 4, 8}) {
    const std::vector<Duration> times = stage_times("llama-3.1-70b", 8, pipeline, shape);
    const Duration slowest = *std::max_element(times.begin(), times.end());
    const Duration latency = std::accumulate(times.begin(), times.end(), Duration());
    CAPTURE(pipeline);
    CHECK(slowest * pipeline >= whole);
    // 128256 x 8192 / 8 weights of 2 B at 3.35 TB/s, logits and sampling: less than 0.2 ms; sends less than
    // that.
    CHECK(slowest <= whole / pipeline + microseconds(400));
    // A micro-batch passes all of it, and each boundary costs a send and a gather: 2 x 64 x 8192 x 2 B.
    const double hop_s = 5e-6 + 2.0 * 64 * 8192 * 2 / 8 * (1 / 50e9 + 7 / 450e9);
    // Each stage rounds what a token of context costs it up to a picosecond.
    CHECK(to_seconds(latency) == Approx(to_seconds(whole) + static_cast<double>(pipeline - 1) * hop_s)
                                     .epsilon(0)
                                     .margin(static_cast<double>(pipeline) * 64'000e-12 + 1e-10));
  }
}

TEST_CASE("layers alone are shared out evenly") {
  // With p stages and m micro-batches one after the other a stage works m of m + p - 1 turns when turns are
  // equal: those of 80 layers over 4 stages are, without embedding, head and sends.
  ModelSpec model = load_model("llama-3.1-70b");
  model.has_embedding = false;
  model.has_head = false;
  const auto whole =
      make_step_pricer(model, load_gpu("h100-sxm"), in_one_node(1), gpu_alone(CostLevel::datasheet), kLimits);
  const StepShape shape = decode(64, 1000);
  Duration sends;  // in the price of all stages, for none is the last
  for (const ModelSpec& stage : stages_of(model, 4)) {
    const auto pricer = make_step_pricer(stage, load_gpu("h100-sxm"), in_one_node(1),
                                         gpu_alone(CostLevel::datasheet), kLimits);
    const StepCost turn = pricer->price(shape);
    sends += turn.communication;
    const Duration work = turn.total() - turn.communication;
    const StepCost all = whole->price(shape);
    CHECK(to_seconds(work) ==
          Approx(to_seconds(all.total() - all.communication) / 4).epsilon(0).margin(64'000e-12));
  }
  CHECK(sends > Duration());
}

}  // namespace
}  // namespace inferometer
