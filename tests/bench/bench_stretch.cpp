// What a stretch of steps asks for, whatever its length: its prices, its blocks, its end, its tokens.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <benchmark/benchmark.h>

#include "costmodel/step_pricer.hpp"
#include "sim/batch/block_demand.hpp"
#include "sim/batch/decode_set.hpp"
#include "sim/kvcache/block_pool.hpp"
#include "sim/replica/stretch.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kBlockSize = 16;
constexpr std::int64_t kEndless = std::int64_t{1} << 50;

/// Decoding sequences whose blocks fill up at different steps.
class Decoding {
 public:
  explicit Decoding(std::int64_t batch) : sequences_(static_cast<std::size_t>(batch)) {
    for (std::size_t i = 0; i < sequences_.size(); ++i) {
      Sequence& sequence = sequences_[i];
      sequence.prompt = 1000 + static_cast<std::int64_t>(i);
      sequence.computed = sequence.prompt;
      sequence.emitted = 1;
      sequence.output = kEndless;
      sequence.state = Sequence::State::decoding;
      decodes.join(sequence, static_cast<SequenceId>(i));
    }
  }
  void advance(TimePoint first_end, TimePoint last_end, std::int64_t steps) {
    decodes.advance(first_end, last_end, steps);
  }

  DecodeSet decodes{kBlockSize, std::nullopt};

 private:
  std::vector<Sequence> sequences_;
};

/// 32 decodes beside so many chunks; one price and how it changes from step to step.
void price_line(benchmark::State& state) {
  const auto pricer = make_step_pricer(load_model("llama-3-8b"), load_gpu("h100-sxm"), in_one_node(1),
                                       CostOptions(), {.max_tokens = 2048, .max_rows = 256});
  const std::vector<ChunkShape> chunks(static_cast<std::size_t>(state.range(0)), {200, 300});
  StepShape shape{.decodes = 32, .decode_context = 40'000, .sampled_rows = 32, .chunks = chunks};
  for (auto _ : state) {
    benchmark::DoNotOptimize(pricer->line(shape, {32, 0}));
    ++shape.decode_context;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(price_line)->Arg(0)->Arg(1)->Arg(8);

/// How many of up to so many steps such a share (in percent) of the blocks that all take is enough for.
void blocks_of_stretch(benchmark::State& state) {
  Decoding batch(32);
  const std::int64_t steps = state.range(0);
  const std::int64_t free = 32 * steps / kBlockSize * state.range(1) / 100;
  for (auto _ : state) {
    const BlockDemand demand(batch.decodes, {});
    benchmark::DoNotOptimize(demand.steps_within(free, 1, steps));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(blocks_of_stretch)->Args({8, 200})->Args({8, 50})->Args({4096, 200})->Args({4096, 50});

void take_and_give_back_blocks(benchmark::State& state) {
  BlockPool pool(BlockCount(1000), kBlockSize);
  for (auto _ : state) {
    pool.take(BlockCount(3));
    benchmark::DoNotOptimize(pool.free());
    pool.give_back(BlockCount(3));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(take_and_give_back_blocks);

/// Which step of so many an arrival falls into.
void find_step_of_arrival(benchmark::State& state) {
  const StepLine line{{.bandwidth = milliseconds(7)}, {.bandwidth = Duration(1'300'000)}};
  const std::int64_t steps = state.range(0);
  const Stretch stretch(TimePoint(), line, steps);
  std::int64_t step = 0;
  for (auto _ : state) {
    step = step + 1 < steps ? step + 1 : 0;
    benchmark::DoNotOptimize(stretch.steps_to_last(stretch.time_of(step) + milliseconds(3)));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(find_step_of_arrival)->Arg(1)->Arg(64)->Arg(4096);

/// 32 sequences emit so many tokens each.
void advance_decodes_many(benchmark::State& state) {
  Decoding batch(32);
  const std::int64_t steps = state.range(0);
  TimePoint now;
  for (auto _ : state) {
    batch.advance(now + milliseconds(8), now + milliseconds(8) * steps, steps);
    now = now + milliseconds(8) * steps;
    benchmark::DoNotOptimize(batch.decodes.gaps().data());
    if (now > TimePoint(seconds(1'000'000))) {
      now = TimePoint();
    }
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(advance_decodes_many)->Arg(1)->Arg(64)->Arg(4096);

}  // namespace
}  // namespace inferometer
