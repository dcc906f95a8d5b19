#include "calibration/device/attention_tensors.hpp"

#include <set>

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

constexpr EqualPrefill kShape{.batch = 2, .tokens = 3, .past = 4, .heads = 6, .kv_heads = 2, .head_dim = 5};

std::int64_t offset(const AttentionTensor& tensor, std::int64_t a, std::int64_t b, std::int64_t c,
                    std::int64_t d) {
  return a * tensor.strides[0] + b * tensor.strides[1] + c * tensor.strides[2] + d * tensor.strides[3];
}

/// Calls `look(sequence, head, row, column)` for every element.
template <class Look>
void for_each_element(const AttentionTensor& tensor, Look look) {
  for (std::int64_t a = 0; a < tensor.sizes[0]; ++a) {
    for (std::int64_t b = 0; b < tensor.sizes[1]; ++b) {
      for (std::int64_t c = 0; c < tensor.sizes[2]; ++c) {
        for (std::int64_t d = 0; d < tensor.sizes[3]; ++d) {
          look(a, b, c, d);
        }
      }
    }
  }
}

TEST_CASE("queries and values lie token by token and head by head", "[attention_tensors]") {
  const AttentionTensor query = query_tensor(kShape);
  CHECK(query.sizes == std::array<std::int64_t, 4>{2, 6, 3, 5});
  for_each_element(query, [&](auto sequence, auto head, auto token, auto column) {
    CHECK(offset(query, sequence, head, token, column) == ((sequence * 3 + token) * 6 + head) * 5 + column);
  });
  const AttentionTensor values = value_tensor(kShape);
  CHECK(values.sizes == std::array<std::int64_t, 4>{2, 2, 7, 5});
  for_each_element(values, [&](auto sequence, auto head, auto key, auto column) {
    CHECK(offset(values, sequence, head, key, column) == ((sequence * 7 + key) * 2 + head) * 5 + column);
  });
}

TEST_CASE("keys are the values' array with rows and columns exchanged", "[attention_tensors]") {
  const AttentionTensor keys = transposed_key_tensor(kShape);
  CHECK(keys.sizes == std::array<std::int64_t, 4>{2, 2, 5, 7});
  for_each_element(keys, [&](auto sequence, auto head, auto column, auto key) {
    CHECK(offset(keys, sequence, head, column, key) ==
          offset(value_tensor(kShape), sequence, head, key, column));
  });
}

TEST_CASE("scores have a place each and no gaps", "[attention_tensors]") {
  const AttentionTensor scores = score_tensor(kShape, kShape.keys());
  CHECK(scores.sizes == std::array<std::int64_t, 4>{2, 6, 3, 7});
  std::set<std::int64_t> places;
  for_each_element(scores,
                   [&](auto a, auto b, auto c, auto d) { places.insert(offset(scores, a, b, c, d)); });
  CHECK(places.size() == 2 * 6 * 3 * 7);
  CHECK(*places.rbegin() == 2 * 6 * 3 * 7 - 1);
}

TEST_CASE("a window that holds all keys limits nothing", "[attention_tensors]") {
  EqualPrefill shape = kShape;
  CHECK_FALSE(shape.is_limited());
  shape.window = 7;  // 4 cached and 3 new
  CHECK_FALSE(shape.is_limited());
  shape.window = 6;
  CHECK(shape.is_limited());
}

}  // namespace
}  // namespace inferometer
