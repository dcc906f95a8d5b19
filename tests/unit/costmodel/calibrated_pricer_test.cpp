// Steps priced from measured kernels: what the pricer adds to the prices of single kernels.

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "costmodel/calibrated_kernels.hpp"
#include "costmodel/step_pricer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sample_kernels.hpp"

namespace inferometer {
namespace {

constexpr PricerLimits kLimits{.max_tokens = 2048, .max_rows = 64};

CostOptions without_host() {
  CostOptions options;
  options.level = CostLevel::calibrated;
  options.host_fixed = Duration();
  options.host_per_sequence = Duration();
  options.cuda_graphs = false;
  return options;
}

std::unique_ptr<StepPricer> pricer_of(const KernelProfile& kernels, const ModelSpec& model,
                                      std::int64_t tensor_parallel = 1, const PricerLimits& limits = kLimits,
                                      const CostOptions& options = without_host()) {
  return make_calibrated_pricer(model, samples::measured_gpu(), kernels, samples::round_profile(),
                                in_one_node(tensor_parallel), options, limits);
}

std::unique_ptr<StepPricer> roofline_pricer_of(const ModelSpec& model, std::int64_t tensor_parallel = 1) {
  return make_roofline_pricer(model, samples::measured_gpu(), samples::round_profile(),
                              in_one_node(tensor_parallel), without_host(), kLimits);
}

/// Profile with corrections that jump, each in its own place.
KernelProfile jumping_profile() {
  KernelProfile profile = samples::whole_profile();
  profile.fits[0].trees = samples::cut_at(samples::gemm_rows, 200, 0.1, 0.3);
  profile.fits[1].trees = samples::cut_at(samples::decode_context, 300, -0.2, 0.1);
  profile.fits[2].trees = samples::cut_at(samples::prefill_length, 700, 0.2, -0.1);
  return profile;
}

struct RandomStep {
  std::vector<ChunkShape> chunks;
  StepShape shape;
};

RandomStep random_step(RandomStream& random, std::uint64_t most_decodes, std::uint64_t most_tokens) {
  const auto below = [&random](std::uint64_t most) { return static_cast<std::int64_t>(random.below(most)); };
  RandomStep step;
  for (std::int64_t count = below(4); count > 0; --count) {
    step.chunks.push_back({1 + below(most_tokens), below(2) * below(20'000)});
  }
  step.shape.decodes = below(most_decodes) + (step.chunks.empty() ? 1 : 0);
  step.shape.decode_context =
      step.shape.decodes * (1 + below(9000)) + (step.shape.decodes > 0 ? below(99) : 0);
  step.shape.decode_window_context = step.shape.decode_context / 2;
  step.shape.sampled_rows = step.shape.decodes + below(1 + step.chunks.size());
  step.shape.chunks = step.chunks;
  return step;
}

TEST_CASE("calibrated: what is tabulated changes no price") {
  ModelSpec model = samples::llama_3_8b();
  for (const std::int64_t tensor_parallel : {1, 2}) {
    const auto smallest = pricer_of(jumping_profile(), model, tensor_parallel, {1, 1});
    const auto odd = pricer_of(jumping_profile(), model, tensor_parallel, {777, 33});
    const auto large = pricer_of(jumping_profile(), model, tensor_parallel, {8192, 512});
    RandomStream random(11, "shapes");
    for (int i = 0; i < 300; ++i) {
      // Every third lies beyond all tables.
      const RandomStep step = random_step(random, 600, i % 3 == 0 ? 20'000 : 700);
      CAPTURE(step.shape.decodes, step.shape.decode_context, step.shape.tokens());
      CHECK(smallest->price(step.shape) == large->price(step.shape));
      CHECK(odd->price(step.shape) == large->price(step.shape));
    }
  }
}

TEST_CASE("calibrated: what operators take adds up to the price") {
  RandomStream random(13, "shapes");
  for (const std::int64_t tensor_parallel : {1, 2}) {
    const auto pricer = pricer_of(jumping_profile(), samples::llama_3_8b(), tensor_parallel);
    for (int i = 0; i < 100; ++i) {
      const RandomStep step = random_step(random, 100, 3000);
      CAPTURE(step.shape.decodes, step.shape.decode_context, step.shape.tokens());
      Duration sum;
      for (const OperatorTime& one : pricer->operator_times(step.shape)) {
        sum += one.time;
      }
      CHECK((sum == pricer->price(step.shape).total()));
    }
  }
}

TEST_CASE("calibrated: without a single fit every price is the roofline's") {
  ModelSpec windowed = samples::llama_3_8b();
  windowed.sliding_window = 700;
  for (const ModelSpec& model : {samples::llama_3_8b(), windowed}) {
    for (const std::int64_t tensor_parallel : {1, 2}) {
      const auto calibrated = pricer_of(samples::profile_of({}), model, tensor_parallel);
      const auto roofline = roofline_pricer_of(model, tensor_parallel);
      RandomStream random(13, "shapes");
      for (int i = 0; i < 200; ++i) {
        const RandomStep step = random_step(random, 80, 700);
        CHECK(calibrated->price(step.shape) == roofline->price(step.shape));
        const ContextTokens growth{step.shape.decodes, step.shape.decodes / 2};
        CHECK(calibrated->line(step.shape, growth)->growth == roofline->line(step.shape, growth)->growth);
      }
    }
  }
}

TEST_CASE("calibrated: what has no fit is the roofline's, beside kernels that have one") {
  const ModelSpec model = samples::llama_3_8b();
  const auto roofline = roofline_pricer_of(model);
  const std::vector<ChunkShape> first{{300, 0}, {100, 900}}, second{{200, 3000}, {200, 10}};
  // Steps of as many tokens and rows differ by their attention alone.
  const StepShape decode{.decodes = 20, .decode_context = 9'000, .sampled_rows = 20};
  const StepShape later{.decodes = 20, .decode_context = 40'000, .sampled_rows = 20};
  const StepShape chunks{.sampled_rows = 2, .chunks = first};
  const StepShape others{.sampled_rows = 2, .chunks = second};
  const auto differences = [](const StepPricer& pricer, const StepShape& a, const StepShape& b) {
    return pricer.price(a).total() - pricer.price(b).total();
  };
  const auto without_decode =
      pricer_of(samples::profile_of({samples::gemm_fit(), samples::prefill_fit()}), model);
  CHECK(differences(*without_decode, later, decode) == differences(*roofline, later, decode));
  CHECK(differences(*without_decode, others, chunks) != differences(*roofline, others, chunks));
  const auto without_prefill =
      pricer_of(samples::profile_of({samples::gemm_fit(), samples::decode_fit()}), model);
  CHECK(differences(*without_prefill, others, chunks) == differences(*roofline, others, chunks));
  const auto without_gemm = pricer_of(samples::profile_of({samples::decode_fit()}), model);
  const auto with_decode = pricer_of(samples::whole_profile(), model);
  CHECK(differences(*without_gemm, later, decode) == differences(*with_decode, later, decode));
}

/// All runs of the operators by their own shapes.
Duration sum_over(const KernelProfile& profile, const ModelSpec& model, const GpuSpec& gpu,
                  const Profile& fallback, std::int64_t tensor_parallel, const StepShape& shape) {
  const Roofline roofline(gpu, fallback, CostLevel::roofline, in_one_node(tensor_parallel));
  const CalibratedKernels kernels(profile, gpu, roofline, std::nullopt);
  Duration sum;
  for (const Operator& part : step_operators(model, tensor_parallel, shape)) {
    sum += kernels.time(part).total() * part.repeats;
  }
  return sum;
}

/// At most so much more or less, relative, and some picoseconds of rounding.
void check_near(Duration time, Duration expected, double relative) {
  CAPTURE(time.count(), expected.count());
  CHECK(std::abs(static_cast<double>((time - expected).count())) <=
        relative * static_cast<double>(expected.count()) + 2000);
}

TEST_CASE("calibrated: at knots a step costs what its operators do") {
  // By hand and as shipped. Every operator rounds up its parts, once a layer.
  const GpuSpec h100 = load_gpu("h100-sxm");
  const KernelProfile shipped = read_kernel_profile(*kernel_profile_file("h100-sxm", "vllm"));
  const ModelSpec model = samples::llama_3_8b();
  for (const bool is_shipped : {false, true}) {
    const KernelProfile& profile = is_shipped ? shipped : jumping_profile();
    const GpuSpec gpu = is_shipped ? h100 : samples::measured_gpu();
    const Profile fallback = is_shipped ? load_profile("h100-sxm") : samples::round_profile();
    for (const std::int64_t tensor_parallel : {1, 2}) {
      const auto pricer = make_calibrated_pricer(model, gpu, profile, fallback, in_one_node(tensor_parallel),
                                                 without_host(), kLimits);
      for (const std::int64_t batch : {1, 8, 64, 256, 512}) {
        for (const std::int64_t context : {1, 16, 1024, 65'536}) {
          CAPTURE(is_shipped, tensor_parallel, batch, context);
          const StepShape shape{.decodes = batch, .decode_context = batch * context, .sampled_rows = batch};
          // Measured times of attention fall here and there with the context, which prices must not.
          check_near(pricer->price(shape).total(),
                     sum_over(profile, model, gpu, fallback, tensor_parallel, shape), is_shipped ? 1e-3 : 0);
        }
      }
      for (const std::int64_t length : {1, 2, 64, 256, 2048, 8192}) {
        CAPTURE(is_shipped, tensor_parallel, length);
        const ChunkShape prompt{length, 0};
        const StepShape shape{.sampled_rows = 1, .chunks = {&prompt, 1}};
        check_near(pricer->price(shape).total(),
                   sum_over(profile, model, gpu, fallback, tensor_parallel, shape), 0);
      }
    }
  }
}

TEST_CASE("calibrated: between knots a step costs nearly what its operators do") {
  const GpuSpec gpu = load_gpu("h100-sxm");
  const Profile fallback = load_profile("h100-sxm");
  const KernelProfile shipped = read_kernel_profile(*kernel_profile_file("h100-sxm", "vllm"));
  const ModelSpec model = samples::llama_3_8b();
  const auto pricer =
      make_calibrated_pricer(model, gpu, shipped, fallback, in_one_node(1), without_host(), kLimits);
  RandomStream random(17, "steps");
  std::vector<double> differences;
  for (int i = 0; i < 200; ++i) {
    const std::int64_t batch = 1 + static_cast<std::int64_t>(random.below(300));
    const auto context = static_cast<std::int64_t>(std::exp(9 * random.uniform()));
    const StepShape decode{.decodes = batch, .decode_context = batch * context, .sampled_rows = batch};
    const auto length = static_cast<std::int64_t>(std::exp(9 * random.uniform()));
    const std::vector<ChunkShape> chunk{{length, i % 2 == 0 ? 0 : batch * 10}};
    const StepShape prefill{.sampled_rows = 1, .chunks = chunk};
    StepShape mixed = decode;
    mixed.chunks = chunk;
    for (const StepShape& shape : {decode, prefill, mixed}) {
      const Duration expected = sum_over(shipped, model, gpu, fallback, 1, shape);
      differences.push_back(std::abs(to_seconds(pricer->price(shape).total()) / to_seconds(expected) - 1));
    }
  }
  std::sort(differences.begin(), differences.end());
  CHECK(differences[differences.size() * 19 / 20] < 0.02);
  CHECK(differences.back() < 0.05);  // where the library changes kernels between two knots
}

TEST_CASE("calibrated: no part of a step within the measured range is extrapolated, all of one outside is") {
  ModelSpec model = samples::llama_3_8b();
  model.vocab = 32'000;  // an lm_head that was measured
  const auto pricer = pricer_of(samples::whole_profile(), model);
  const std::vector<ChunkShape> chunks{{512, 0}, {256, 1000}};
  CHECK(pricer->price({.decodes = 64, .decode_context = 64 * 4000, .sampled_rows = 66, .chunks = chunks})
            .extrapolated == Duration());
  // Twice the vocabulary measured: lm_head and nothing else. 1 row: bandwidth, 4 us before.
  const auto large = pricer_of(samples::whole_profile(), samples::llama_3_8b());
  const StepCost cost = large->price({.decodes = 1, .decode_context = 100, .sampled_rows = 1});
  const double head_bytes = 2.0 * (128256.0 * 4096 + 4096 + 128256);
  CHECK(to_seconds(cost.extrapolated) == Approx(4e-6 + head_bytes / 0.8e12));
  // Decodes at a context that was not measured: their attention. 32 layers of 10 us, 20 ns a head, keys.
  const StepShape far{.decodes = 2, .decode_context = 2 * 8192, .sampled_rows = 2};
  CHECK(to_seconds(pricer->price(far).extrapolated) ==
        Approx(32 * (10e-6 + 16 * 20e-9 + (4.0 * 8 * 128 * 2 * 8192 + 4.0 * 2 * 32 * 128) / 0.9e12)));
}

TEST_CASE("calibrated: products in a format that was not measured count as extrapolated") {
  ModelSpec model = samples::llama_3_8b();
  model.vocab = 32'000;
  model.weight_format = "int4_weights";
  const StepShape shape{.decodes = 64, .decode_context = 64 * 1024, .sampled_rows = 64};
  const StepCost cost = pricer_of(samples::whole_profile(), model)->price(shape);
  // qkv, o, gate + up, down of Llama-3-8B: (0.5 + 2 / 128) B a weight, 2 B an input and an output, in bf16.
  double seconds = 0;
  for (const auto& [inputs, outputs] :
       {std::pair(4096.0, 6144.0), {4096.0, 4096.0}, {4096.0, 28672.0}, {14336.0, 4096.0}}) {
    const double bytes = 0.515625 * inputs * outputs + 64 * 2 * (inputs + outputs);
    seconds += 32 * (4e-6 + std::max(2 * 64 * inputs * outputs / 0.5e15, bytes / 0.8e12));
  }
  CHECK(to_seconds(cost.extrapolated) == Approx(seconds));
  KernelProfile both = samples::whole_profile();
  both.fits.push_back(samples::gemm_fit("int4_weights"));
  CHECK(pricer_of(both, model)->price(shape).extrapolated == Duration());
}

TEST_CASE("calibrated: the basis says what prices stand on") {
  ModelSpec model = samples::llama_3_8b();
  model.weight_format = "fp8";
  const auto pricer = pricer_of(
      samples::profile_of({samples::gemm_fit(), samples::decode_fit(), samples::elementwise_fit("norm")}),
      model, 1, {.max_tokens = 16384, .max_rows = 128});
  const CostBasis& basis = pricer->basis();
  CHECK(basis.level == CostLevel::calibrated);
  CHECK(basis.profile == "vllm kernels on round, fitted 2026-11-30");
  REQUIRE(basis.notes.size() == 2);
  CHECK(basis.notes[0] ==
        "not measured in fp8 but scaled from bf16 by the roofline: qkv projection, o projection, gate + up "
        "projection and down projection");
  CHECK(basis.notes[1] == "not in the profile but priced by the roofline: prefill attention");
  // Products of 16,384 rows, of 8192 measured; lm_head's vocabulary; decodes of 128 sequences, of 64.
  REQUIRE(basis.extrapolations.size() == 6);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(basis.extrapolations[i].axis == "m");
    CHECK(basis.extrapolations[i].value == 16384);
    CHECK(basis.extrapolations[i].measured == 8192);
  }
  CHECK(to_text(basis.extrapolations[4]) ==
        "lm_head with n = 128256, 2 times above the largest measured (65536)");
  CHECK(to_text(basis.extrapolations[5]) ==
        "decode attention with batch = 128, 2 times above the largest measured (64)");

  model.weight_format = "bf16";
  model.vocab = 32'000;
  const auto measured = pricer_of(samples::whole_profile(), model);
  CHECK(measured->basis().notes.empty());
  CHECK(measured->basis().extrapolations.empty());
}

TEST_CASE("calibrated: the basis says what is measured with another library or launched from the host") {
  KernelProfile profile = samples::whole_profile();
  const auto notes_of = [&profile] { return pricer_of(profile, samples::llama_3_8b())->basis().notes; };
  for (KernelFit& fit : profile.fits) {
    if (fit.family == KernelFamily::gemm) {
      fit.roofline.start_up_s = 30e-6;  // as long as it may take without a word
    }
  }
  for (const std::string& note : notes_of()) {
    CHECK(note.find("starts up") == std::string::npos);
  }
  for (KernelFit& fit : profile.fits) {
    if (fit.family == KernelFamily::gemm) {
      fit.roofline.start_up_s = 83.51e-6;
    }
    if (fit.family == KernelFamily::decode_attention || fit.family == KernelFamily::prefill_attention) {
      fit.library = "tensorrt-llm 1.3";
    }
  }
  const std::vector<std::string> notes = notes_of();
  REQUIRE(notes.size() == 2);
  CHECK(notes[0] ==
        "not measured with vllm but with tensorrt-llm 1.3: decode attention and prefill attention");
  CHECK(notes[1] ==
        "every matrix product in bf16 starts up for 84 us, as measured with launches from the host; within "
        "CUDA "
        "graphs it may be far less");
}

TEST_CASE(
    "calibrated: the longest sequences count among what may lie outside, in one word for chunks and their "
    "past") {
  const auto pricer = pricer_of(samples::whole_profile(), samples::llama_3_8b(), 1,
                                {.max_tokens = 2048, .max_rows = 8, .max_context = 1 << 20});
  std::vector<std::string> axes;
  for (const Extrapolation& beyond : pricer->basis().extrapolations) {
    axes.push_back(beyond.kernel + ": " + beyond.axis);
  }
  CHECK(std::find(axes.begin(), axes.end(), "decode attention: context") != axes.end());
  const auto prompts = std::find(axes.begin(), axes.end(), "prefill attention: tokens + 2 past");
  REQUIRE(prompts != axes.end());
  const Extrapolation& longest =
      pricer->basis().extrapolations[static_cast<std::size_t>(prompts - axes.begin())];
  CHECK(longest.value == 2048 + 2 * ((1 << 20) - 2048));
}

TEST_CASE("calibrated: a resampled run is slower or faster by the drawn factor") {
  KernelProfile profile = samples::profile_of({samples::decode_fit()});
  RegionError error;
  error.region = "KV beyond L2";
  for (std::size_t i = 0; i < RegionError::kQuantiles; ++i) {
    error.log_ratio[i] = 0.4 * static_cast<double>(i) / (RegionError::kQuantiles - 1);
  }
  profile.fits[0].regions = {error};
  CostOptions options = without_host();
  options.resample = 3;
  const auto plain = pricer_of(profile, samples::llama_3_8b());
  const auto drawn = pricer_of(profile, samples::llama_3_8b(), 1, kLimits, options);
  const double factor =
      std::exp(0.4 * (0.05 + 0.9 * RandomStream(3, "uncertainty/3/decode attention/KV beyond L2").uniform()));
  const auto attention_growth = [](const StepPricer& pricer) {
    const auto at = [&pricer](std::int64_t context) {
      return to_seconds(pricer.price({.decodes = 8, .decode_context = context, .sampled_rows = 8}).total());
    };
    return at(8 * 4096) - at(8 * 1024);
  };
  CHECK(attention_growth(*drawn) == Approx(attention_growth(*plain) * factor).epsilon(1e-5));
}

TEST_CASE("the level in use is the one asked for where there is a profile, else the roofline") {
  const ModelSpec model = samples::llama_3_8b();
  const auto basis_on = [&model](const char* gpu, const CostOptions& options) {
    return make_step_pricer(model, load_gpu(gpu), in_one_node(1), options, {16, 4})->basis();
  };
  CostOptions options = without_host();
  CHECK(basis_on("h100-sxm", options).level == CostLevel::calibrated);
  CHECK(basis_on("h100-sxm", options).profile.starts_with("vllm kernels on h100-sxm, fitted "));
  CHECK(basis_on("a10g", options).level == CostLevel::roofline);
  CHECK(basis_on("a10g", options).profile.empty());
  options.kernels = "tensorrt-llm";
  CHECK(basis_on("h100-sxm", options).profile.starts_with("tensorrt-llm kernels on h100-sxm, fitted "));
  for (const CostLevel level : {CostLevel::roofline, CostLevel::datasheet}) {
    options.level = level;
    CHECK(basis_on("h100-sxm", options).level == level);
  }
}

}  // namespace
}  // namespace inferometer
