#include <fmt/format.h>

#include "calibration/device/prefill_call.hpp"
#include "kernels/attention/prefill_attention.hpp"

namespace inferometer {
namespace {

class OwnPrefillCall final : public PrefillCall {
 public:
  OwnPrefillCall(RunnerContext& context, const KernelCall& call, std::uint64_t seed)
      : PrefillCall(context, call, seed),
        compute_capability_(context.compute_capability),
        query_offsets_(memory_.take_int32(shape_.batch + 1)),
        key_offsets_(memory_.take_int32(shape_.batch + 1)) {}

  std::string kernel() const override {
    return fmt::format("prefill_attention_sm{}", compute_capability_ == 90 ? 90 : 80);
  }

  void fill() override {
    PrefillCall::fill();
    memory_.fill_int32(query_offsets_, shape_.batch + 1, 0, static_cast<std::int32_t>(shape_.tokens));
    memory_.fill_int32(key_offsets_, shape_.batch + 1, 0, static_cast<std::int32_t>(shape_.keys()));
  }

  kernels::LaunchResult launch(kernels::Stream stream) override {
    return kernels::prefill_attention({.batch = shape_.batch,
                                       .max_tokens = shape_.tokens,
                                       .total_tokens = shape_.batch * shape_.tokens,
                                       .total_keys = shape_.batch * shape_.keys(),
                                       .heads = shape_.heads,
                                       .kv_heads = shape_.kv_heads,
                                       .head_dim = shape_.head_dim,
                                       .window = shape_.window,
                                       .element = kernels::ElementType::bf16},
                                      {.query = query_.data,
                                       .keys = keys_.data,
                                       .values = values_.data,
                                       .output = output_.data,
                                       .query_offsets = query_offsets_,
                                       .key_offsets = key_offsets_},
                                      stream);
  }

 private:
  int compute_capability_;
  std::int32_t* query_offsets_;
  std::int32_t* key_offsets_;
};

}  // namespace

std::unique_ptr<PreparedCall> prepare_prefill_attention(RunnerContext& context, const KernelCall& call,
                                                        std::uint64_t seed) {
  require_bf16_prefill(call);
  return std::make_unique<OwnPrefillCall>(context, call, seed);
}

}  // namespace inferometer
