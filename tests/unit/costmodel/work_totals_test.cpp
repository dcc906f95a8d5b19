#include "costmodel/work_totals.hpp"

#include <limits>
#include <vector>

#include "base/random.hpp"
#include "costmodel/operators.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sample_specs.hpp"

namespace inferometer {
namespace {

/// In [low, high].
std::int64_t between(RandomStream& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
}

TEST_CASE("totals of a run and the work of a step equal the sums over the operators of their steps") {
  RandomStream random(3, "shapes");
  ModelSpec windowed = samples::odd_model();
  windowed.sliding_window = 30;
  for (const ModelSpec& model : {samples::odd_model(), windowed, samples::llama_3_8b()}) {
    for (const std::int64_t tensor_parallel : {1, 2, 4}) {
      WorkTotals totals(model, tensor_parallel);
      Flops flops;
      Bytes bytes;
      for (int i = 0; i < 50; ++i) {
        std::vector<ChunkShape> chunks;
        for (std::int64_t n = between(random, 0, 3); n > 0; --n) {
          chunks.push_back({between(random, 1, 60), between(random, 0, 100)});
        }
        StepShape shape{.decodes = between(random, chunks.empty() ? 1 : 0, 9), .chunks = chunks};
        shape.decode_context = shape.decodes * between(random, 1, 30);
        shape.decode_window_context = shape.decode_context / 2;
        shape.sampled_rows = between(random, 0, shape.decodes);
        const std::vector<Operator> operators = step_operators(model, tensor_parallel, shape);
        const StepWork alone = totals.of_step(shape);
        CHECK(static_cast<double>(alone.flops) == total_flops(operators).count());
        CHECK((alone.hbm_bytes == total_hbm_bytes(operators).count()));
        flops += total_flops(operators);
        bytes += total_hbm_bytes(operators);
        totals.add(shape);
      }
      CHECK(totals.flops() == flops);
      CHECK(totals.hbm_bytes() == bytes);
    }
  }
}

TEST_CASE("a stretch of steps adds what its steps add") {
  ModelSpec model = samples::llama_3_8b();
  for (const bool windowed : {false, true}) {
    if (windowed) {
      model.sliding_window = 300;
    }
    WorkTotals one_by_one(model, 1);
    WorkTotals at_once(model, 1);
    ChunkShape chunk{64, 10};
    StepShape shape{.decodes = 5,
                    .decode_context = 1000,
                    .sampled_rows = 5,
                    .chunks = {&chunk, 1},
                    .decode_window_context = 700};
    at_once.add(shape, 37, {5, 4});
    for (std::int64_t step = 0; step < 37; ++step) {
      one_by_one.add(shape);
      shape.add_context({5, 4});
      chunk.past += 64;
    }
    CHECK(at_once.flops() == one_by_one.flops());
    CHECK(at_once.hbm_bytes() == one_by_one.hbm_bytes());
  }
}

TEST_CASE("one decode step of Llama-3-8B reads its weights and its cache") {
  WorkTotals totals(samples::llama_3_8b(), 1);
  totals.add({.decodes = 1, .decode_context = 1000, .sampled_rows = 1});
  const double weights = 2.0 * 7'504'658'432;
  const double cache = 131'072.0 * 1000;
  // Activations of one token are less than a thousandth of that.
  CHECK(static_cast<double>(totals.hbm_bytes().count()) > weights + cache);
  CHECK(static_cast<double>(totals.hbm_bytes().count()) < (weights + cache) * 1.001);
}

TEST_CASE("bytes of a very long run stop at the largest number") {
  WorkTotals totals(samples::llama_3_8b(), 1);
  totals.add({.decodes = 1, .decode_context = 1, .sampled_rows = 1}, 2'000'000'000, {1, 0});
  CHECK(totals.hbm_bytes().count() == std::numeric_limits<std::int64_t>::max());
}

}  // namespace
}  // namespace inferometer
