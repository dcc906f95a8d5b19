// Mixtures of experts: how many experts tokens reach, what they compute, read and send, what a GPU holds.

#include <cmath>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "costmodel/attention_rank.hpp"
#include "costmodel/collectives.hpp"
#include "costmodel/expert_routing.hpp"
#include "costmodel/feed_forward.hpp"
#include "costmodel/kernels/kernel_work.hpp"
#include "costmodel/memory_footprint.hpp"
#include "costmodel/operators.hpp"
#include "costmodel/parallelism.hpp"
#include "costmodel/step_pricer.hpp"
#include "costmodel/work_totals.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"
#include "tests/support/sample_specs.hpp"

namespace inferometer {
namespace {

MixtureOfExperts mixture(std::int64_t experts, std::int64_t per_token, double skew = 0) {
  MixtureOfExperts moe;
  moe.experts = experts;
  moe.experts_per_token = per_token;
  moe.ffn = 24;
  moe.skew = skew;
  return moe;
}

/// Every option on, one of three layers dense.
ModelSpec odd_mixture() {
  ModelSpec model = samples::odd_model();
  model.qk_norm = false;
  model.moe = mixture(12, 3);
  model.moe->shared_ffn = 30;
  model.moe->shared_gate = true;
  model.moe->dense_layers = {0};
  return model;
}

const Operator* find(const std::vector<Operator>& list, const std::string& name) {
  for (const Operator& part : list) {
    if (part.name == name) {
      return &part;
    }
  }
  return nullptr;
}

Operator named(const std::vector<Operator>& list, const std::string& name) {
  INFO(name);
  const Operator* const part = find(list, name);
  REQUIRE(part != nullptr);
  return *part;
}

std::string complaint_about(const ModelSpec& model, const ModelSplit& split) {
  try {
    check_experts(model, split);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("distinct experts of the reference table, to its printed digits") {
  struct Row {
    std::int64_t experts, per_token, tokens;
    double distinct, digit;
  };
  for (const Row& row : {Row{8, 2, 1, 2, .1},        Row{8, 2, 2, 3.5, .1},     Row{8, 2, 4, 5.5, .1},
                         Row{8, 2, 8, 7.2, .1},      Row{8, 2, 16, 7.9, .1},    Row{8, 2, 32, 8, .1},
                         Row{128, 8, 1, 8, .1},      Row{128, 8, 2, 15.5, .1},  Row{128, 8, 4, 29.1, .1},
                         Row{128, 8, 8, 51.6, .1},   Row{128, 8, 16, 82.4, .1}, Row{128, 8, 32, 111.8, .1},
                         Row{128, 8, 64, 125.9, .1}, Row{128, 8, 128, 128, .1}, Row{256, 8, 1, 8, .1},
                         Row{256, 8, 2, 15.8, .1},   Row{256, 8, 4, 30.5, .1},  Row{256, 8, 8, 57.4, .1},
                         Row{256, 8, 16, 102, 1},    Row{256, 8, 32, 163, 1},   Row{256, 8, 64, 222, 1},
                         Row{256, 8, 128, 251.6, .1}}) {
    INFO(row.experts << " experts, " << row.tokens << " tokens");
    const double distinct =
        distinct_experts(mixture(row.experts, row.per_token), static_cast<double>(row.tokens));
    CHECK(std::abs(distinct - row.distinct) <= 0.5001 * row.digit);
  }
}

TEST_CASE("a skew makes some experts popular and tokens reach fewer") {
  for (const double skew : {0.0, 0.5, 1.2, 3.0}) {
    const MixtureOfExperts moe = mixture(64, 6, skew);
    const std::vector<double> probabilities = expert_probabilities(moe);
    double sum = 0;
    double reached = 0;
    for (std::size_t i = 0; i < probabilities.size(); ++i) {
      CHECK(probabilities[i] >= 0);
      CHECK(probabilities[i] <= 1);
      CHECK((i == 0 || probabilities[i] <= probabilities[i - 1]));
      sum += probabilities[i];
      reached += 1 - std::pow(1 - probabilities[i], 20);
    }
    CHECK(sum == Approx(6));
    CHECK(distinct_experts(moe, 20) == Approx(reached));
    CHECK(distinct_experts(moe, 1) == Approx(6));
    CHECK(distinct_experts(moe, 20) <= distinct_experts(mixture(64, 6), 20) * (1 + 1e-12));
  }
  // By hand, skew 1, 1 of 4: weights 1, 1/2, 1/3, 1/4 of 25/12.
  const std::vector<double> harmonic = expert_probabilities(mixture(4, 1, 1));
  CHECK(harmonic[0] == Approx(12.0 / 25));
  CHECK(harmonic[3] == Approx(3.0 / 25));
  // 2 of 3 with so much skew that the first is always taken: the other choice is shared 2^-4 to 3^-4.
  const std::vector<double> certain = expert_probabilities(mixture(3, 2, 4));
  CHECK(certain[0] == 1);
  CHECK(certain[1] == Approx(81.0 / 97));
  CHECK(certain[2] == Approx(16.0 / 97));
}

TEST_CASE("the fullest group of experts has the mean and a fluctuation more") {
  const MixtureOfExperts moe = mixture(64, 4);
  CHECK(fullest_group_pairs(moe, 100, 1) == Approx(400));
  CHECK(fullest_group_pairs(moe, 100, 8) == Approx(50 + std::sqrt(2 * 50 * std::log(8.0))));
  // Of one token no more than it sends, and no more than a group has experts.
  CHECK(fullest_group_pairs(moe, 1, 8) == Approx(0.5 + std::sqrt(std::log(8.0))));
  CHECK(fullest_group_pairs(mixture(8, 4), 1, 8) == 1);  // one expert a group
  // Dealt out in order of popularity: the first of four groups of two has experts 1 and 5 of eight.
  const std::vector<double> p = expert_probabilities(mixture(8, 2, 0.7));
  const double mean = 30 * (p[0] + p[4]);
  CHECK(fullest_group_pairs(mixture(8, 2, 0.7), 30, 4) == Approx(mean + std::sqrt(2 * mean * std::log(4.0))));
}

TEST_CASE("routed experts compute and read what their kernel's formula says") {
  for (const char* format : {"bf16", "fp8", "fp8_block", "int4_weights", "mxfp4_weights", "fp4_weights"}) {
    for (const std::int64_t tokens : {1, 7, 64, 3000}) {
      for (const ModelSplit& split :
           {ModelSplit(1), ModelSplit(2), ModelSplit(2, 1, 2), ModelSplit(4, 1, 2), ModelSplit(2, 2, 4)}) {
        ModelSpec model = odd_mixture();
        model.moe->format = format;
        const Operator experts = routed_experts(model, split, tokens);
        const KernelWork work = kernel_work(experts.call.value());
        CHECK(experts.flops.count() == Approx(work.flops).epsilon(1e-12));
        CHECK(std::abs(static_cast<double>(experts.hbm_bytes.count()) - work.hbm_bytes) <= 1);
        CHECK(experts.repeats == 2);
      }
    }
  }
}

TEST_CASE("operators of a layer with experts, counted by hand") {
  // 5 tokens, width 40, 12 experts of 24 columns and 3 for each token, 30 shared columns, on one GPU.
  const std::vector<Operator> list = feed_forward_operators(odd_mixture(), 1, 5);
  CHECK(named(list, "gate + up projection").repeats == 1);
  CHECK(named(list, "router").repeats == 2);
  CHECK(named(list, "router").flops == Flops(2.0 * 5 * 40 * 12));
  CHECK(named(list, "experts").flops == Flops(6.0 * 5 * 3 * 40 * 24));
  CHECK(named(list, "shared gate + up projection").flops == Flops(2.0 * 5 * 40 * 60));
  CHECK(named(list, "shared down projection").flops == Flops(2.0 * 5 * 30 * 40));
  CHECK(named(list, "shared expert gate").flops == Flops(2.0 * 5 * 40));
  CHECK(find(list, "expert dispatch") == nullptr);
  // Of 12 (1 - (9/12)^5) experts all weights in 16 bit; 5 tokens in and out; 3 vectors of 24 a pair.
  const double weights = 12 * (1 - std::pow(0.75, 5)) * 3 * 40 * 24 * 2;
  CHECK(named(list, "experts").hbm_bytes.count() ==
        static_cast<std::int64_t>(std::ceil(weights + 5 * 40 * 4 + 15 * 24 * 6)));
}

TEST_CASE("tokens travel to the experts of other ranks and back") {
  const std::int64_t tokens = 32;
  ModelSpec model = odd_mixture();
  // One rank: every GPU has all tokens, whatever the experts are split by.
  for (const ModelSplit& split : {ModelSplit(4), ModelSplit(4, 1, 4)}) {
    const std::vector<Operator> list = token_operators(model, split, tokens);
    CHECK(find(list, "expert dispatch") == nullptr);
    CHECK(named(list, "all-reduce").repeats == 6);
  }
  // Four ranks of one GPU with three experts each: 8 tokens a GPU, to 3 of 4 GPUs; 1 - 1/4 of them elsewhere.
  const std::vector<Operator> dealt = token_operators(model, {1, 4, 4}, tokens);
  CHECK(named(dealt, "expert dispatch").link_bytes == Bytes(8 * 3 * 3 / 4 * 40 * 2));
  CHECK(named(dealt, "expert combine").link_bytes == Bytes(8 * 3 * 3 / 4 * 40 * 2));
  CHECK(named(dealt, "expert dispatch").repeats == 2);
  CHECK(named(dealt, "expert dispatch").is_among_stage);
  CHECK(find(dealt, "all-reduce") == nullptr);
  // As its kernel is measured.
  const Operator dispatch = named(dealt, "expert dispatch");
  CHECK(kernel_work(*dispatch.call).link_bytes == Approx(static_cast<double>(dispatch.link_bytes.count())));
  CHECK(named(dealt, "qkv projection").flops == named(token_operators(model, 1, 8), "qkv projection").flops);
  // Experts that compute in 8 bit get 8 bit with a scale each 128, and answer in 16.
  model.moe->format = "fp8";
  const std::vector<Operator> narrow = token_operators(model, {1, 4, 4}, tokens);
  CHECK(named(narrow, "expert dispatch").link_bytes == Bytes(static_cast<std::int64_t>(720 * 1.03125)));
  CHECK(named(narrow, "expert combine").link_bytes == Bytes(1440));
  // Slices of all experts on every GPU: hidden states of all tokens are gathered and sums scattered.
  const std::vector<Operator> split = token_operators(model, {1, 4, 1}, tokens);
  CHECK(named(split, "expert dispatch").link_bytes == Bytes(3 * 8 * 40 * 2));
  CHECK(named(split, "expert combine").link_bytes == Bytes(3 * 8 * 40 * 2));
  // Two ranks of two: attention, the dense layer and shared experts end in an all-reduce of the rank.
  const std::vector<Operator> ranks = token_operators(model, {2, 2, 4}, tokens);
  CHECK(named(ranks, "all-reduce").repeats == 3 + 1 + 2);
  CHECK(named(ranks, "expert output gather").link_bytes == Bytes(16 * 40 * 2 / 2));
}

TEST_CASE("an all-to-all between nodes waits for the slower of its two kinds of links") {
  ModelSpec model = odd_mixture();
  Parallelism parallelism = in_one_node(1);
  parallelism.attention_data = 4;
  parallelism.expert = 4;
  parallelism.stage_in_node = 2;
  parallelism.between_nodes = GpuLink{BytesPerSecond(1e9), microseconds(5)};
  parallelism.in_node = GpuLink{BytesPerSecond(4e9), microseconds(1)};
  const ReplicaLinks links(samples::round_gpu(), samples::round_profile(), true, parallelism);
  const Operator part = named(token_operators(model, parallelism.split(), 32), "expert dispatch");
  // 1440 bytes to three peers; two of them behind the NIC: 5 us + 960 ns against 1 us + 120 ns.
  CHECK(std::abs((links.time(part) - microseconds(5) - nanoseconds(960)).count()) <= 1);  // rounded up
  CHECK(links.is_estimate(part));
  parallelism.stage_in_node = 4;
  const ReplicaLinks near(samples::round_gpu(), samples::round_profile(), true, parallelism);
  CHECK(std::abs((near.time(part) - microseconds(1) - nanoseconds(360)).count()) <= 1);
}

TEST_CASE("weights of a GPU by how its experts are split") {
  ModelSpec model = odd_mixture();
  model.tied_embeddings = true;
  const std::int64_t expert = 3LL * 40 * 24 * 2;  // bytes of one
  const auto bytes = [&model](const ModelSplit& split) { return weight_bytes_per_gpu(model, split).count(); };
  const std::int64_t whole = bytes(1);
  const std::int64_t vocabulary_padding = (128 - 101) * 40 * 2;
  CHECK(whole == model.parameters() * 2 + vocabulary_padding);
  // Four ranks of one GPU: everything but the experts of two layers is whole.
  CHECK(whole - bytes({1, 4, 4}) == 2 * 9 * expert);
  CHECK(bytes({1, 4, 1}) == bytes({1, 4, 4}));
  CHECK(bytes({2, 1, 2}) == bytes(2));
  model.moe->format = "mxfp4_weights";
  CHECK(whole - bytes(1) == static_cast<std::int64_t>(2 * 12 * 3 * 40 * 24 * (2 - 0.5 - 1.0 / 32)));
}

TEST_CASE("a rank of attention has its share of a step") {
  const std::vector<ChunkShape> chunks = {{64, 100}, {7, 0}};
  const StepShape step{.decodes = 10,
                       .decode_context = 1001,
                       .sampled_rows = 11,
                       .chunks = chunks,
                       .decode_window_context = 50};
  const AttentionRank one(step, 1);
  CHECK(one.shape().decode_context == 1001);
  const AttentionRank rank(step, 4);
  CHECK(rank.shape().decodes == 3);
  CHECK(rank.shape().decode_context == 301);  // 1001 x 3 / 10, rounded up
  CHECK(rank.shape().decode_window_context == 15);
  CHECK(rank.shape().sampled_rows == 3);
  REQUIRE(rank.shape().chunks.size() == 2);
  // A quarter of the queries, each with as many keys on average: (64 (100 + 32.5)) / 4 pairs.
  CHECK(attention_pairs(rank.shape().chunks[0], std::nullopt) == 64 * 265 / 2 / 4);
  CHECK(rank.shape().chunks[1].tokens == 2);
  CHECK_FALSE(rank.is_straight({10, 0}));
}

TEST_CASE("a line of decodes over ranks is what single steps cost") {
  ModelSpec model = odd_mixture();
  Parallelism parallelism = in_one_node(1);
  parallelism.attention_data = 3;
  parallelism.expert = 3;
  CostOptions options;
  options.level = CostLevel::roofline;
  const auto pricer = make_roofline_pricer(model, samples::round_gpu(), samples::round_profile(), parallelism,
                                           options, {.max_tokens = 64, .max_rows = 32, .max_context = 1000});
  for (const std::int64_t decodes : {1, 2, 3, 7, 32}) {
    StepShape step{.decodes = decodes, .decode_context = 37 * decodes + 5, .sampled_rows = decodes};
    const std::optional<StepLine> line = pricer->line(step, {decodes, 0});
    REQUIRE(line.has_value());
    CHECK(line->steps > 1);
    for (std::int64_t j = 0; j < std::min<std::int64_t>(line->steps, 50); ++j) {
      CHECK(pricer->price(step) == line->first + line->growth * j);
      step.decode_context += decodes;
    }
  }
  // Growth that is not a whole number of tokens for the fullest rank: one step at a time.
  const std::optional<StepLine> uneven =
      pricer->line({.decodes = 7, .decode_context = 70, .sampled_rows = 7}, {2, 0});
  REQUIRE(uneven.has_value());
  CHECK(uneven->steps == 1);
}

TEST_CASE("a run's totals are the sums of its steps' operators with experts") {
  const ModelSpec model = odd_mixture();
  for (const ModelSplit& split : {ModelSplit(1), ModelSplit(2, 1, 2), ModelSplit(1, 2, 2)}) {
    WorkTotals totals(model, split);
    double flops = 0;
    std::int64_t bytes = 0;
    for (const std::int64_t decodes : {2, 8, 2500}) {
      const StepShape step{.decodes = decodes, .decode_context = 40 * decodes, .sampled_rows = decodes};
      totals.add(step);
      const std::vector<Operator> operators = step_operators(model, split, step);
      flops += total_flops(operators).count();
      bytes += total_hbm_bytes(operators).count();
    }
    // Of an uneven load pairs are no whole number, nor are their FLOPs: less than one is lost in each step.
    CHECK(totals.flops().count() <= flops);
    CHECK(totals.flops().count() > flops - 3);
    CHECK(std::abs(totals.hbm_bytes().count() - bytes) <= 10);
  }
}

TEST_CASE("degrees that experts cannot be split by say which are possible") {
  const ModelSpec dense = samples::odd_model();
  CHECK(complaint_about(dense, 2).empty());
  check_says(complaint_about(dense, {2, 1, 2}), {"expert_parallel 2", "odd is a dense model"});
  check_says(complaint_about(dense, {2, 2, 1}), {"attention_data_parallel 2", "replica of its own"});
  const ModelSpec model = odd_mixture();
  CHECK(complaint_about(model, {4, 1, 2}).empty());
  check_says(complaint_about(model, {4, 1, 3}),
             {"expert_parallel 3 does not divide the 4 GPUs", "1, 2 or 4"});
  check_says(complaint_about(model, {8, 1, 8}),
             {"expert_parallel 8 does not divide the 12 experts of odd", "1, 2 or 4"});
  check_says(complaint_about(model, {2, 2, 2}), {"attention_data_parallel 2", "1 or 4"});
  for (const std::int64_t ranks :
       {std::int64_t{-1}, std::int64_t{0}, std::int64_t{65}, std::int64_t{1} << 60}) {
    check_says(complaint_about(model, {1, ranks, 1}), {"attention_data_parallel", "not from 1 to 64"});
  }
}

}  // namespace inferometer
