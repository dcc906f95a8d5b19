#include <limits>
#include <vector>

#include "kernels/sampling/argmax.hpp"
#include "kernels/sampling/top_p.hpp"
#include "tests/cuda/dense_data.hpp"

namespace inferometer::kernels {
namespace {

using namespace inferometer::test;

/// Multiples of 1/16 up to 8 in size: of the largest there are several in a row.
std::vector<float> random_logits(std::int64_t rows, std::int64_t vocab, std::uint64_t seed) {
  std::vector<float> logits(static_cast<std::size_t>(rows * vocab));
  for (std::size_t index = 0; index < logits.size(); ++index) {
    logits[index] = 8 * random_element(seed, index);
  }
  return logits;
}

std::vector<float> row_of(const std::vector<float>& logits, std::int64_t row, std::int64_t vocab) {
  const auto first = logits.begin() + row * vocab;
  return {first, first + vocab};
}

TEST_CASE("greedy tokens are the reference's call after call", "[cuda]") {
  if (is_skipped()) {
    return;
  }
  for (const std::int64_t rows : {1, 3, 400}) {
    for (const std::int64_t vocab : {1, 31, 4'097, 50'257}) {
      const ArgmaxShape shape{.rows = rows, .vocab = vocab};
      std::vector<float> logits = random_logits(rows, vocab, 3);
      logits[0] = std::numeric_limits<float>::quiet_NaN();
      const GpuArray array = on_gpu(logits);
      const GpuArray tokens(static_cast<std::size_t>(rows) * 4);
      const GpuArray workspace =
          on_gpu(std::vector<unsigned char>(static_cast<std::size_t>(argmax_workspace_bytes(shape))));
      for (int call = 0; call < 2; ++call) {
        require_run(fill_poison(tokens.data(), 4 * rows, nullptr));
        require_run(argmax(shape,
                           {static_cast<const float*>(array.data()),
                            static_cast<std::int32_t*>(tokens.data()), workspace.data()},
                           nullptr));
        const std::vector<std::int32_t> chosen = integers_of<std::int32_t>(tokens);
        for (std::int64_t row = 0; row < rows; ++row) {
          REQUIRE(chosen[static_cast<std::size_t>(row)] == argmax_reference(row_of(logits, row, vocab)));
        }
      }
    }
  }
}

TEST_CASE("drawn tokens are the reference's away from boundaries", "[cuda]") {
  if (is_skipped()) {
    return;
  }
  int compared = 0;
  for (const std::int64_t vocab : {1, 2, 31, 1'025, 50'257, 128'256}) {
    const std::int64_t rows = 40;
    std::vector<float> logits = random_logits(rows, vocab, 4);
    if (vocab > 2) {
      logits[1] = -std::numeric_limits<float>::infinity();
    }
    const GpuArray array = on_gpu(logits);
    const GpuArray tokens(static_cast<std::size_t>(rows) * 4);
    for (const float temperature : {0.1f, 0.7f, 3.0f}) {
      for (const float share : {0.05f, 0.9f, 1.0f}) {
        const TopPShape shape{.rows = rows,
                              .vocab = vocab,
                              .temperature = temperature,
                              .top_p = share,
                              .seed = 11,
                              .first_draw = 1'000};
        require_run(fill_poison(tokens.data(), 4 * rows, nullptr));
        require_run(
            top_p(shape, {static_cast<const float*>(array.data()), static_cast<std::int32_t*>(tokens.data())},
                  nullptr));
        const std::vector<std::int32_t> chosen = integers_of<std::int32_t>(tokens);
        for (std::int64_t row = 0; row < rows; ++row) {
          const TopPChoice expected =
              top_p_reference(row_of(logits, row, vocab), temperature, share,
                              uniform_draw(11, static_cast<std::uint64_t>(1'000 + row)));
          if (expected.margin > kTopPTolerance) {
            ++compared;
            REQUIRE(chosen[static_cast<std::size_t>(row)] == expected.token);
          }
        }
      }
    }
  }
  CHECK(compared > 1'500);  // of 2,160
}

}  // namespace
}  // namespace inferometer::kernels
