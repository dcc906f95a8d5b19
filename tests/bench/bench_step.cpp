// What a step costs: its price, and the decode set that moves on by a token.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "costmodel/step_pricer.hpp"
#include "sim/batch/decode_set.hpp"

namespace inferometer {
namespace {

constexpr const char* kGpu = "h100-sxm";

std::unique_ptr<StepPricer> pricer(CostLevel level) {
  CostOptions options;
  options.level = level;
  return make_step_pricer(load_model("llama-3-8b"), load_gpu(kGpu), in_one_node(1), options,
                          {.max_tokens = 2048, .max_rows = 256});
}

/// 32 decodes beside so many chunks.
void price_step(benchmark::State& state, CostLevel level) {
  const auto step_pricer = pricer(level);
  const std::vector<ChunkShape> chunks(static_cast<std::size_t>(state.range(0)), {200, 300});
  StepShape shape{.decodes = 32, .decode_context = 40'000, .sampled_rows = 32, .chunks = chunks};
  for (auto _ : state) {
    benchmark::DoNotOptimize(step_pricer->price(shape));
    ++shape.decode_context;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(price_step, roofline, CostLevel::roofline)->Arg(0)->Arg(1)->Arg(8);
BENCHMARK_CAPTURE(price_step, calibrated, CostLevel::calibrated)->Arg(0)->Arg(1)->Arg(8);

/// What a run pays before its first step: the tables of a calibrated pricer for steps of so many tokens.
void build_calibrated_tables(benchmark::State& state) {
  const ModelSpec model = load_model("llama-3-8b");
  const GpuSpec gpu = load_gpu(kGpu);
  const KernelProfile kernels = read_kernel_profile(kernel_profile_file(kGpu, "vllm").value());
  const Profile fallback = load_profile(kGpu);
  CostOptions options;
  options.level = CostLevel::calibrated;
  for (auto _ : state) {
    benchmark::DoNotOptimize(make_calibrated_pricer(model, gpu, kernels, fallback, in_one_node(1), options,
                                                    {.max_tokens = state.range(0), .max_rows = 256}));
  }
}
BENCHMARK(build_calibrated_tables)->Arg(2048)->Arg(8192)->Arg(32'768)->Unit(benchmark::kMillisecond);

void read_profile(benchmark::State& state) {
  const std::string path = kernel_profile_file(kGpu, "vllm").value();
  for (auto _ : state) {
    benchmark::DoNotOptimize(read_kernel_profile(path));
  }
}
BENCHMARK(read_profile)->Unit(benchmark::kMillisecond);

Sequence decoding_sequence(std::int64_t output) {
  Sequence sequence;
  sequence.prompt = 1000;
  sequence.computed = 1000;
  sequence.emitted = 1;
  sequence.output = output;
  sequence.state = Sequence::State::decoding;
  return sequence;
}

/// A batch of so many sequences that go on and on.
void advance_decodes(benchmark::State& state) {
  constexpr std::int64_t kEndless = std::int64_t{1} << 50;
  std::vector<Sequence> sequences(static_cast<std::size_t>(state.range(0)), decoding_sequence(kEndless));
  DecodeSet decodes(16, std::nullopt);
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    decodes.join(sequences[i], static_cast<SequenceId>(i));
  }
  TimePoint now;
  for (auto _ : state) {
    now = now + milliseconds(8);
    decodes.advance(now, now, 1);
    benchmark::DoNotOptimize(decodes.next_finished());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(advance_decodes)->Arg(1)->Arg(32)->Arg(256)->Arg(65'536);

/// In every step one sequence of the batch finishes and another takes its place.
void replace_decodes(benchmark::State& state) {
  const std::int64_t batch = state.range(0);
  std::vector<Sequence> sequences;
  DecodeSet decodes(16, std::nullopt);
  for (std::int64_t i = 0; i < batch; ++i) {
    sequences.push_back(decoding_sequence(2 + i));
    decodes.join(sequences.back(), static_cast<SequenceId>(i));
  }
  TimePoint now;
  for (auto _ : state) {
    now = now + milliseconds(8);
    decodes.advance(now, now, 1);
    for (SequenceId id = decodes.next_finished(); id != kNoSequence; id = decodes.next_finished()) {
      Sequence& sequence = sequences[static_cast<std::size_t>(id)];
      decodes.leave(sequence, id);
      sequence = decoding_sequence(1 + batch);
      sequence.last_emission = now;
      decodes.join(sequence, id);
    }
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(replace_decodes)->Arg(32)->Arg(256);

}  // namespace
}  // namespace inferometer
