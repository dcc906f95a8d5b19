// The kernels' launchers as plain loops over host memory, written from their headers alone. They stand in for
// the GPU where the runners' own arithmetic is tested: which inputs go with an output, and what is allowed.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/attention/decode_attention.hpp"
#include "kernels/attention/prefill_attention.hpp"
#include "kernels/common/fill.hpp"
#include "kernels/common/permutation.hpp"
#include "kernels/copy/device_copy.hpp"
#include "kernels/copy/kv_block_copy.hpp"
#include "kernels/elementwise/embedding.hpp"
#include "kernels/elementwise/rms_norm.hpp"
#include "kernels/elementwise/rope_kv_write.hpp"
#include "kernels/elementwise/silu_mul.hpp"
#include "kernels/gemm/gemm.hpp"
#include "kernels/gemm/gemv.hpp"
#include "kernels/sampling/argmax.hpp"
#include "kernels/sampling/top_p.hpp"
#include "tests/unit/calibration/device/host_gpu/fault.hpp"
#include "tests/unit/calibration/device/host_gpu/host_cuda.hpp"
#include "tests/unit/calibration/device/host_gpu/host_memory.hpp"

namespace inferometer::testing {
namespace {

Fault current_fault = Fault::none;

bool has(Fault fault) {
  return has_fault(fault);
}

/// Of a hundred and more outputs, in the second row, so that few samples have it.
constexpr std::int64_t kInnerOutput = 101;

/// Stores outputs, with the faults that any kernel can have.
class Output {
 public:
  Output(void* buffer, std::int64_t count, kernels::ElementType type)
      : buffer_(buffer), count_(count), type_(type) {}
  void set(std::int64_t index, double value) const {
    if ((has(Fault::leaves_last_output) && index == count_ - 1) ||
        (has(Fault::leaves_inner_output) && index == kInnerOutput)) {
      return;
    }
    store(buffer_, index, type_, has(Fault::five_percent_off) ? 1.05 * value : value);
  }

 private:
  void* buffer_;
  std::int64_t count_;
  kernels::ElementType type_;
};

/// Softmax attention of one query head over keys [first, end).
template <class Key, class Value>
std::vector<double> attend(const std::vector<double>& query, std::int64_t first, std::int64_t end,
                           const Key& key, const Value& value) {
  std::vector<double> output(query.size());
  double sum = 0;
  for (std::int64_t position = first; position < end; ++position) {
    double score = 0;
    for (std::size_t i = 0; i < query.size(); ++i) {
      score += query[i] * key(position, i);
    }
    const double weight = std::exp(score / std::sqrt(static_cast<double>(query.size())));
    sum += weight;
    for (std::size_t i = 0; i < query.size(); ++i) {
      output[i] += weight * value(position, i);
    }
  }
  for (double& element : output) {
    element /= sum;
  }
  return output;
}

struct Keys {
  std::int64_t first, end;
};

/// What the token at `position` sees.
Keys visible(std::int64_t position, std::int64_t window) {
  const std::int64_t width = has(Fault::window_too_wide) ? window + 1 : window;
  const std::int64_t first = window > 0 ? std::max<std::int64_t>(0, position + 1 - width) : 0;
  return {first, has(Fault::drops_newest_key) ? position : position + 1};
}

std::int64_t kv_head_of(std::int64_t head, std::int64_t heads, std::int64_t kv_heads) {
  return has(Fault::confuses_kv_heads) ? head % kv_heads : head / (heads / kv_heads);
}

std::vector<double> row(const void* buffer, std::int64_t first, std::int64_t count,
                        kernels::ElementType type) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(load(buffer, first + i, type));
  }
  return values;
}

}  // namespace

void set_fault(Fault fault) {
  current_fault = fault;
}

bool has_fault(Fault fault) {
  return current_fault == fault;
}

}  // namespace inferometer::testing

namespace inferometer::kernels {

using testing::Fault;
using testing::has;
using testing::load;
using testing::Output;
using testing::store;

constexpr ElementType kBf16 = ElementType::bf16;

// ---- contents of buffers ----

LaunchResult fill_random(void* buffer, std::int64_t count, const RandomFill& fill, Stream) {
  for (std::int64_t i = 0; i < count; ++i) {
    store(buffer, i, fill.type, filled_element(fill, static_cast<std::uint64_t>(i)));
  }
  return {};
}

LaunchResult fill_poison(void* buffer, std::int64_t bytes, Stream) {
  std::memset(buffer, 0xFF, static_cast<std::size_t>(bytes));
  return {};
}

LaunchResult fill_int32(std::int32_t* buffer, std::int64_t count, std::int32_t first, std::int32_t step,
                        Stream) {
  for (std::int64_t i = 0; i < count; ++i) {
    buffer[i] = first + static_cast<std::int32_t>(i) * step;
  }
  return {};
}

LaunchResult fill_permutation(std::int32_t* buffer, std::int64_t count, std::uint64_t seed, Stream) {
  for (std::int64_t i = 0; i < count; ++i) {
    buffer[i] = static_cast<std::int32_t>(permuted(seed, i, count));
  }
  return {};
}

LaunchResult count_nonfinite(const void* buffer, std::int64_t count, ElementType type,
                             NonfiniteCounts* counts, Stream) {
  for (std::int64_t i = 0; i < count; ++i) {
    const double value = load(buffer, i, type);
    counts->nans += std::isnan(value) ? 1 : 0;
    counts->infinities += std::isinf(value) ? 1 : 0;
  }
  return {};
}

// ---- GEMM ----

struct GemmLibrary {};

struct GemmPlan {
  GemmShape shape;
};

void destroy(GemmPlan* plan) {
  delete plan;
}

void destroy(GemmLibrary* library) {
  delete library;
}

LaunchResult open_gemm_library(GemmLibraryPtr& library) {
  library.reset(new GemmLibrary);
  return {};
}

std::int64_t gemm_library_version() {
  return 130001;
}

LaunchResult plan_gemm(const GemmLibrary&, const GemmShape& shape, GemmPlanPtr& plan) {
  if (shape.n % 8 != 0) {
    return {KernelStatus::unsupported, "gemm: n a multiple of 8"};
  }
  plan.reset(new GemmPlan{shape});
  return {};
}

int candidates_of(const GemmPlan&) {
  return 3;
}

void multiply(const GemmShape& shape, const GemmBuffers& buffers) {
  const Output output(buffers.output, shape.m * shape.n, output_type(shape));
  double scale = 1;
  if (shape.type == ElementType::fp8_e4m3) {
    scale = *buffers.input_scale * (has(Fault::forgets_scale) ? 1 : *buffers.weight_scale);
  }
  for (std::int64_t m = 0; m < shape.m; ++m) {
    for (std::int64_t n = 0; n < shape.n; ++n) {
      const std::int64_t weight_row = has(Fault::next_row) ? (n + 1) % shape.n : n;
      double sum = 0;
      for (std::int64_t k = 0; k < shape.k; ++k) {
        sum += load(buffers.input, m * shape.k + k, shape.type) *
               load(buffers.weights, weight_row * shape.k + k, shape.type);
      }
      output.set(m * shape.n + n, scale * sum);
    }
  }
}

LaunchResult gemm(GemmPlan& plan, int candidate, const GemmBuffers& buffers, Stream) {
  if (candidate == 0) {
    return {KernelStatus::unsupported, "this candidate does not run here"};
  }
  return testing::queue("gemm_" + std::to_string(candidate),
                        [shape = plan.shape, buffers] { multiply(shape, buffers); });
}

LaunchResult gemv_workspace_bytes(const GemmShape&, std::int64_t& bytes) {
  bytes = 32;
  return {};
}

LaunchResult gemv(const GemmShape& shape, const GemmBuffers& buffers, Stream) {
  return testing::queue("gemv", [=] { multiply(shape, buffers); });
}

// ---- attention ----

LaunchResult prefill_attention(const PrefillAttentionShape& shape, const PrefillAttentionBuffers& buffers,
                               Stream) {
  return testing::queue("prefill_attention", [=] {
    const std::int64_t dim = shape.head_dim;
    const Output output(buffers.output, shape.total_tokens * shape.heads * dim, shape.element);
    for (std::int64_t sequence = 0; sequence < shape.batch; ++sequence) {
      const std::int64_t first_token = buffers.query_offsets[sequence];
      const std::int64_t first_key = buffers.key_offsets[sequence];
      const std::int64_t tokens = buffers.query_offsets[sequence + 1] - first_token;
      const std::int64_t past = buffers.key_offsets[sequence + 1] - first_key - tokens;
      for (std::int64_t token = 0; token < tokens; ++token) {
        for (std::int64_t head = 0; head < shape.heads; ++head) {
          const std::int64_t kv_head = testing::kv_head_of(head, shape.heads, shape.kv_heads);
          const auto element = [&](const void* buffer) {
            return [&, buffer](std::int64_t position, std::size_t column) {
              return load(buffer,
                          ((first_key + position) * shape.kv_heads + kv_head) * dim +
                              static_cast<std::int64_t>(column),
                          shape.element);
            };
          };
          const std::int64_t first = ((first_token + token) * shape.heads + head) * dim;
          const auto [begin, end] = testing::visible(past + token, shape.window);
          const std::vector<double> result =
              testing::attend(testing::row(buffers.query, first, dim, shape.element), begin, end,
                              element(buffers.keys), element(buffers.values));
          for (std::int64_t i = 0; i < dim; ++i) {
            output.set(first + i, result[static_cast<std::size_t>(i)]);
          }
        }
      }
    }
  });
}

LaunchResult decode_attention_workspace(const DecodeAttentionShape& shape, std::size_t& bytes) {
  bytes = 0;
  return shape.heads % shape.kv_heads == 0 ? LaunchResult{}
                                           : LaunchResult{KernelStatus::unsupported, "groups"};
}

LaunchResult decode_attention(const DecodeAttentionShape& shape, const DecodeAttentionBuffers& buffers,
                              Stream) {
  return testing::queue("decode_attention", [=] {
    const std::int64_t dim = shape.head_dim;
    const Output output(buffers.output, shape.batch * shape.heads * dim, shape.query_type);
    for (std::int64_t sequence = 0; sequence < shape.batch; ++sequence) {
      for (std::int64_t head = 0; head < shape.heads; ++head) {
        const std::int64_t kv_head = testing::kv_head_of(head, shape.heads, shape.kv_heads);
        const auto element = [&](const void* cache, double scale) {
          return [&, cache, scale](std::int64_t position, std::size_t column) {
            const std::int64_t entry = sequence * shape.max_blocks + position / 16;
            const std::int64_t block = has(Fault::ignores_block_table) ? entry : buffers.block_table[entry];
            const std::int64_t token = (block * shape.kv_heads + kv_head) * 16 + position % 16;
            return scale * load(cache, token * dim + static_cast<std::int64_t>(column), shape.kv_type);
          };
        };
        const std::int64_t first = (sequence * shape.heads + head) * dim;
        const auto [begin, end] = testing::visible(buffers.contexts[sequence] - 1, shape.window);
        const double value_scale = has(Fault::forgets_scale) ? 1 : static_cast<double>(buffers.value_scale);
        const std::vector<double> result =
            testing::attend(testing::row(buffers.query, first, dim, shape.query_type), begin, end,
                            element(buffers.keys, static_cast<double>(buffers.key_scale)),
                            element(buffers.values, value_scale));
        for (std::int64_t i = 0; i < dim; ++i) {
          output.set(first + i, result[static_cast<std::size_t>(i)]);
        }
      }
    }
  });
}

// ---- elementwise ----

LaunchResult rms_norm(const RmsNormShape& shape, const RmsNormBuffers& buffers, Stream) {
  return testing::queue("rms_norm", [=] {
    const Output output(buffers.output, shape.tokens * shape.width, kBf16);
    for (std::int64_t token = 0; token < shape.tokens; ++token) {
      double squares = 0;
      std::vector<double> x;
      for (std::int64_t i = token * shape.width; i < (token + 1) * shape.width; ++i) {
        x.push_back(load(buffers.input, i, kBf16) +
                    (shape.adds_residual ? load(buffers.residual, i, kBf16) : 0));
        squares += x.back() * x.back();
        if (shape.adds_residual && !has(Fault::keeps_residual)) {
          store(buffers.residual, i, kBf16, x.back());
        }
      }
      const double rms =
          std::sqrt(squares / static_cast<double>(shape.width) + static_cast<double>(kRmsNormEpsilon));
      for (std::int64_t i = 0; i < shape.width; ++i) {
        output.set(token * shape.width + i,
                   x[static_cast<std::size_t>(i)] / rms * load(buffers.weight, i, kBf16));
      }
    }
  });
}

LaunchResult rope_kv_write(const RopeKvWriteShape& shape, const RopeKvWriteBuffers& buffers, Stream) {
  return testing::queue("rope_kv_write", [=] {
    const std::int64_t dim = shape.head_dim;
    const std::int64_t heads = shape.heads + 2 * shape.kv_heads;
    const Output query(buffers.query, shape.tokens * shape.heads * dim, kBf16);
    for (std::int64_t token = 0; token < shape.tokens; ++token) {
      const std::int64_t slot = buffers.slots[token] + (has(Fault::wrong_slot) ? 1 : 0);
      for (std::int64_t head = 0; head < heads; ++head) {
        const std::vector<double> before =
            testing::row(buffers.qkv, (token * heads + head) * dim, dim, kBf16);
        for (std::int64_t d = 0; d < dim; ++d) {
          const std::int64_t pair = d % (dim / 2);
          const double sign = has(Fault::turns_backwards) ? -1 : 1;
          const double angle =
              sign * buffers.positions[token] *
              std::pow(shape.theta, -2.0 * static_cast<double>(pair) / static_cast<double>(dim));
          const double low = before[static_cast<std::size_t>(pair)];
          const double high = before[static_cast<std::size_t>(pair + dim / 2)];
          const double turned = d < dim / 2 ? low * std::cos(angle) - high * std::sin(angle)
                                            : high * std::cos(angle) + low * std::sin(angle);
          if (head < shape.heads) {
            query.set((token * shape.heads + head) * dim + d, turned);
            continue;
          }
          const bool is_key = head < shape.heads + shape.kv_heads;
          const std::int64_t kv_head = is_key ? head - shape.heads : head - shape.heads - shape.kv_heads;
          const std::int64_t place = ((slot / 16 * shape.kv_heads + kv_head) * 16 + slot % 16) * dim + d;
          store(is_key ? buffers.key_cache : buffers.value_cache, place, kBf16,
                is_key ? turned : before[static_cast<std::size_t>(d)]);
        }
      }
    }
  });
}

LaunchResult embedding(const EmbeddingShape& shape, const EmbeddingBuffers& buffers, Stream) {
  return testing::queue("embedding", [=] {
    const Output output(buffers.output, shape.tokens * shape.width, kBf16);
    for (std::int64_t token = 0; token < shape.tokens; ++token) {
      const std::int64_t id = buffers.ids[token] + (has(Fault::next_row) ? 1 : 0);
      for (std::int64_t i = 0; i < shape.width; ++i) {
        output.set(token * shape.width + i, load(buffers.table, id * shape.width + i, kBf16));
      }
    }
  });
}

LaunchResult silu_mul(const SiluMulShape& shape, const SiluMulBuffers& buffers, Stream) {
  return testing::queue("silu_mul", [=] {
    const Output output(buffers.output, shape.tokens * shape.ffn, kBf16);
    for (std::int64_t token = 0; token < shape.tokens; ++token) {
      for (std::int64_t i = 0; i < shape.ffn; ++i) {
        double gate = load(buffers.input, token * 2 * shape.ffn + i, kBf16);
        double up = load(buffers.input, token * 2 * shape.ffn + shape.ffn + i, kBf16);
        if (has(Fault::swaps_gate_and_up)) {
          std::swap(gate, up);
        }
        output.set(token * shape.ffn + i, gate / (1 + std::exp(-gate)) * up);
      }
    }
  });
}

// ---- sampling ----

LaunchResult argmax(const ArgmaxShape& shape, const ArgmaxBuffers& buffers, Stream) {
  return testing::queue("argmax", [=] {
    for (std::int64_t r = 0; r < shape.rows - (has(Fault::leaves_last_output) ? 1 : 0); ++r) {
      const float* const logits = buffers.logits + r * shape.vocab;
      std::int64_t best = 0;
      for (std::int64_t i = 1; i < shape.vocab; ++i) {
        if (logits[i] > logits[best] || (has(Fault::takes_highest_of_ties) && logits[i] == logits[best])) {
          best = i;
        }
      }
      buffers.tokens[r] = static_cast<std::int32_t>(has(Fault::next_row) ? (best + 1) % shape.vocab : best);
    }
  });
}

LaunchResult top_p(const TopPShape& shape, const TopPBuffers& buffers, Stream) {
  return testing::queue("top_p", [=] {
    for (std::int64_t r = 0; r < shape.rows - (has(Fault::leaves_last_output) ? 1 : 0); ++r) {
      const float* const logits = buffers.logits + r * shape.vocab;
      const float largest = *std::max_element(logits, logits + shape.vocab);
      const auto weight = [&](std::int64_t i) {
        return std::exp(static_cast<double>(logits[i] - largest) / static_cast<double>(shape.temperature));
      };
      double total = 0;
      for (std::int64_t i = 0; i < shape.vocab; ++i) {
        total += weight(i);
      }
      const double wanted = (has(Fault::halves_nucleus) ? 0.5 : 1) * static_cast<double>(shape.top_p) * total;
      std::vector<float> sorted(logits, logits + shape.vocab);
      std::sort(sorted.begin(), sorted.end(), std::greater<>());
      double sum = 0;
      float least = largest;
      for (const float logit : sorted) {
        if (sum >= wanted && logit < least) {
          break;
        }
        sum += std::exp(static_cast<double>(logit - largest) / static_cast<double>(shape.temperature));
        least = logit;
      }
      const double passed = sum * uniform_draw(shape.seed, shape.first_draw + static_cast<std::uint64_t>(r));
      double before = 0;
      for (std::int64_t i = 0; i < shape.vocab; ++i) {
        before += logits[i] >= least ? weight(i) : 0;
        if (before > passed) {
          buffers.tokens[r] = static_cast<std::int32_t>(i);
          break;
        }
      }
    }
  });
}

// ---- copies ----

LaunchResult kv_block_copy(const KvBlockCopyShape& shape, const KvBlockCopyBuffers& buffers, Stream) {
  return testing::queue("kv_block_copy", [=] {
    for (std::int64_t i = 0; i < shape.count - (has(Fault::leaves_last_output) ? 1 : 0); ++i) {
      std::int64_t from = buffers.from[i];
      std::int64_t to = buffers.to[i];
      if (has(Fault::swaps_from_and_to)) {
        std::swap(from, to);
      }
      std::memcpy(static_cast<char*>(buffers.target) + to * shape.block_bytes,
                  static_cast<const char*>(buffers.source) + from * shape.block_bytes,
                  static_cast<std::size_t>(shape.block_bytes));
    }
  });
}

LaunchResult device_copy(void* target, const void* source, std::int64_t bytes, Stream) {
  return testing::queue("device_copy", [=] {
    const Output output(target, bytes / 2, kBf16);
    for (std::int64_t i = 0; i < bytes / 2; ++i) {
      output.set(i, load(source, i, kBf16));
    }
  });
}

}  // namespace inferometer::kernels
