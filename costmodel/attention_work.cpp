#include "costmodel/attention_work.hpp"

#include "base/triangular.hpp"
#include "costmodel/latent_attention.hpp"
#include "costmodel/operators.hpp"

namespace inferometer {
namespace {

struct Totals {
  std::int64_t flops, hbm_bytes;
};

Totals totals(const Operator& part) {
  return {static_cast<std::int64_t>(part.flops.count()) * part.repeats,
          part.hbm_bytes.count() * part.repeats};
}

}  // namespace

AttentionWork::AttentionWork(const ModelSpec& model, std::int64_t tensor_parallel) {
  for (const AttentionPart& part : attention_parts(model)) {
    // One query over one key is a pair; over two keys it reads one key more.
    const auto query_over = [&](std::int64_t past) {
      const ChunkShape chunk{1, past};
      return totals(prefill_attention(unwindowed(part.layers), tensor_parallel, {&chunk, 1}));
    };
    const Totals one_key = query_over(0);
    const Totals two_keys = query_over(1);
    const Totals context = totals(decode_attention(part.layers, tensor_parallel, 0, 1, false));
    const std::int64_t key_bytes = two_keys.hbm_bytes - one_key.hbm_bytes;
    parts_.push_back({.is_windowed = part.is_windowed(),
                      .window = part.layers.sliding_window,
                      .pair = {one_key.flops, 0},
                      .key = {0, key_bytes},
                      .decode_pair = {context.flops, 0},
                      .decode_key = {0, context.hbm_bytes}});
    chunk_token_.hbm_bytes += one_key.hbm_bytes - key_bytes;
    decode_.hbm_bytes += totals(decode_attention(part.layers, tensor_parallel, 1, 0, false)).hbm_bytes;
  }
  if (model.latent) {
    add_latent(model, tensor_parallel);
  }
}

/// The products beside attention, each a straight line in its rows: keys of the one part, decodes.
void AttentionWork::add_latent(const ModelSpec& model, std::int64_t tensor_parallel) {
  const auto add = [&](auto product, Unit& of_step, Unit& of_row) {
    const Totals none = totals(product(model, tensor_parallel, 0));
    const Totals one = totals(product(model, tensor_parallel, 1));
    of_step.flops += none.flops;
    of_step.hbm_bytes += none.hbm_bytes;
    of_row.flops += one.flops - none.flops;
    of_row.hbm_bytes += one.hbm_bytes - none.hbm_bytes;
  };
  add(up_projection, chunk_step_, parts_.front().key);
  add(query_absorption, decode_step_, decode_);
  add(value_absorption, decode_step_, decode_);
}

void AttentionWork::add(const StepShape& shape, std::int64_t steps, const ContextTokens& growth,
                        Counts& counts) const {
  counts.chunk_steps += shape.chunks.empty() ? 0 : steps;
  counts.decode_steps += shape.decodes > 0 ? steps : 0;
  counts.chunk_tokens += shape.chunk_tokens() * steps;
  counts.decode_tokens += shape.decode_tokens() * steps;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const PartUnits& part = parts_[i];
    Counts::Part& count = counts.parts[i];
    const DecodeShape decodes = part.is_windowed ? shape.windowed_decodes() : shape.full_decodes();
    const std::int64_t grown = (part.is_windowed ? growth.windowed : growth.full) * triangular(steps);
    count.decode_pairs += decodes.pairs() * steps + grown * decodes.queries;
    count.decode_keys += decodes.keys() * steps + grown;
    for (ChunkShape chunk : shape.chunks) {
      for (std::int64_t step = 0; step < steps; ++step) {
        count.pairs += attention_pairs(chunk, part.window);
        count.keys += attention_keys(chunk, part.window);
        chunk.past += chunk.tokens;
      }
    }
  }
}

StepWork AttentionWork::of(const Counts& counts) const {
  StepWork work;
  const auto add = [&work](const Unit& unit, std::int64_t count) {
    work += {Int128{unit.flops} * count, Int128{unit.hbm_bytes} * count};
  };
  add(chunk_step_, counts.chunk_steps);
  add(decode_step_, counts.decode_steps);
  add(chunk_token_, counts.chunk_tokens);
  add(decode_, counts.decode_tokens);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    add(parts_[i].pair, counts.parts[i].pairs);
    add(parts_[i].key, counts.parts[i].keys);
    add(parts_[i].decode_pair, counts.parts[i].decode_pairs);
    add(parts_[i].decode_key, counts.parts[i].decode_keys);
  }
  return work;
}

}  // namespace inferometer
