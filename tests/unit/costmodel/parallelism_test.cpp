// How a model is split and spread.

#include "costmodel/parallelism.hpp"

#include <limits>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "costmodel/operators.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"
#include "tests/support/sample_specs.hpp"

namespace inferometer {
namespace {

constexpr GpuLink kLink{BytesPerSecond(50e9), microseconds(5)};

std::string complaint(const Parallelism& parallelism, void (*check)(const ModelSpec&, const Parallelism&)) {
  try {
    check(samples::llama_3_8b(), parallelism);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

Parallelism two_nodes() {
  return {.tensor = 16, .tensor_in_node = 8, .between_nodes = kLink, .in_node = {}};
}

TEST_CASE("layers that remain go to the stages before the last") {
  using Layers = std::vector<std::int64_t>;
  CHECK(stage_layers(32, 1) == Layers{32});
  CHECK(stage_layers(32, 4) == Layers{8, 8, 8, 8});
  CHECK(stage_layers(5, 2) == Layers{3, 2});
  CHECK(stage_layers(22, 4) == Layers{5, 6, 6, 5});
  CHECK(stage_layers(23, 4) == Layers{6, 6, 6, 5});
  CHECK(stage_layers(126, 4) == Layers{31, 32, 32, 31});
  CHECK(stage_layers(3, 3) == Layers{1, 1, 1});
}

TEST_CASE("the stages are the model: every parameter in one of them") {
  for (ModelSpec model : {samples::llama_3_8b(), samples::odd_model()}) {
    for (const std::int64_t count : {1, 2, 3}) {
      std::int64_t parameters = 0;
      std::int64_t active_parameters = 0;
      std::int64_t kv_bytes = 0;
      for (const ModelSpec& stage : stages_of(model, count)) {
        parameters += stage.parameters();
        active_parameters += stage.active_parameters();
        kv_bytes += stage.kv_bytes_per_token().count();
      }
      CHECK(parameters == model.parameters());
      CHECK(active_parameters == model.active_parameters());
      CHECK(kv_bytes == model.kv_bytes_per_token().count());
    }
  }
}

TEST_CASE("tied tables are held by the first and by the last stage") {
  ModelSpec model = samples::llama_3_8b();
  model.tied_embeddings = true;
  const std::vector<ModelSpec> stages = stages_of(model, 3);
  CHECK(stages[0].vocabulary_tables() == 1);
  CHECK(stages[1].vocabulary_tables() == 0);
  CHECK(stages[2].vocabulary_tables() == 1);
  CHECK(stages_of(model, 1).front().vocabulary_tables() == 1);
  model.tied_embeddings = false;
  CHECK(stages_of(model, 1).front().vocabulary_tables() == 2);
}

TEST_CASE("what a stage runs before and after its layers") {
  const auto names = [](const std::vector<Operator>& list) {
    std::vector<std::string> all;
    for (const Operator& part : list) {
      all.emplace_back(part.name);
    }
    return all;
  };
  const std::vector<ModelSpec> stages = stages_of(samples::llama_3_8b(), 3);
  const std::vector<Operator> first = token_operators(stages[0], 4, 10);
  const std::vector<Operator> middle = token_operators(stages[1], 4, 10);
  const std::vector<Operator> last = token_operators(stages[2], 4, 10);
  CHECK(names(first).front() == "embedding");
  CHECK(names(first).back() == "send to next stage");
  CHECK(names(middle).front() == "hidden states gather");
  CHECK(names(middle).back() == "send to next stage");
  CHECK(names(last).front() == "hidden states gather");
  CHECK(names(last).back() == "all-reduce");
  // Hidden states and residual, 10 x 4096 x 2 B each: a quarter of both from every GPU to its peer, and as
  // much from each to the other three.
  CHECK(first.back().link_bytes == Bytes(2 * 20'480));
  CHECK(middle.front().repeats == 2);
  CHECK(middle.front().link_bytes == Bytes(3 * 20'480));
  CHECK(middle.front().ring_steps == 3);
  CHECK(last.back().ring_steps == 6);  // all-reduce: there and back
  // One GPU has nobody to gather from, and sends all.
  CHECK(names(token_operators(stages[1], 1, 10)).front() == "norm + residual");
  CHECK(token_operators(stages[1], 1, 10).back().link_bytes == Bytes(2 * 81'920));
  // Two norms a layer, and the last one before the head.
  CHECK(middle[1].repeats == 2 * stages[1].layers);
  CHECK(last[1].repeats == 2 * stages[2].layers + 1);
  CHECK(row_operators(stages[1], 4, 10).empty());
  CHECK(row_operators(stages[2], 4, 10).size() == 3);
}

TEST_CASE("a tensor group may span nodes as far as heads divide") {
  CHECK(shard(samples::llama_3_8b(), 16).heads == 2);
  CHECK(shard(samples::llama_3_8b(), 16).kv_heads == 1);
  CHECK(shard(samples::llama_3_8b(), 32).heads == 1);
  CHECK_THROWS_AS(shard(samples::llama_3_8b(), 64), ConfigError);   // 32 heads
  CHECK_THROWS_AS(shard(samples::llama_3_8b(), 128), ConfigError);  // beyond the largest
  CHECK_NOTHROW(check_links(samples::llama_3_8b(), two_nodes()));
  check_says(complaint(in_one_node(16), check_split), {"tensor_parallel 16", "one node", "1, 2, 4 or 8"});
  Parallelism uneven = two_nodes();
  uneven.tensor = 24;
  check_says(complaint(uneven, check_split), {"tensor_parallel 24", "several nodes", "1, 2, 4, 8, 16 or 32"});
}

TEST_CASE("a parallelism that cannot be is refused") {
  Parallelism wrong = two_nodes();
  wrong.tensor_in_node = 6;
  check_says(complaint(wrong, check_split), {"6 GPUs of a tensor group of 16"});
  wrong.tensor_in_node = 0;
  check_says(complaint(wrong, check_split), {"0 GPUs"});
  wrong = in_one_node(1);
  for (const std::int64_t stages : {-1, 0, 33}) {
    wrong.pipeline = stages;
    check_says(complaint(wrong, check_split), {"pipeline_parallel " + std::to_string(stages), "32 layers"});
  }
  wrong.pipeline = 32;
  CHECK(complaint(wrong, check_links).empty());
  wrong.stages_in_node = false;
  check_says(complaint(wrong, check_links), {"needs the link between"});
  for (const double factor : {0.99, 0.0, -1.0, 101.0, std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity()}) {
    wrong = in_one_node(1);
    wrong.straggler = factor;
    check_says(complaint(wrong, check_split), {"straggler"});
  }
  for (const double factor : {0.0999, 0.0, -1.0, 10.01, std::numeric_limits<double>::quiet_NaN()}) {
    wrong = in_one_node(1);
    wrong.step_time = factor;
    check_says(complaint(wrong, check_split), {"step_time", "from 0.1 to 10"});
  }
  for (const double factor : {0.1, 0.95, 10.0}) {
    wrong.step_time = factor;
    CHECK(complaint(wrong, check_split).empty());
  }
}

TEST_CASE("links need a bandwidth and no negative latency") {
  Parallelism wrong = two_nodes();
  wrong.between_nodes.reset();
  check_says(complaint(wrong, check_links), {"needs the link between"});
  CHECK(complaint(wrong, check_split).empty());
  for (const double bandwidth :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    wrong.between_nodes = GpuLink{BytesPerSecond(bandwidth), Duration()};
    check_says(complaint(wrong, check_links), {"between nodes", "no bandwidth"});
  }
  wrong = two_nodes();
  wrong.in_node = GpuLink{BytesPerSecond(1), picoseconds(-1)};
  check_says(complaint(wrong, check_links), {"in a node", "negative latency"});
}

}  // namespace
}  // namespace inferometer
