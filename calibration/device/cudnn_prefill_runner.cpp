#include <fmt/format.h>

#include "calibration/device/cudnn_attention.hpp"
#include "calibration/device/cudnn_provider.hpp"
#include "calibration/device/not_prepared.hpp"
#include "calibration/device/prefill_call.hpp"

namespace inferometer {
namespace {

class CudnnPrefillCall final : public PrefillCall {
 public:
  CudnnPrefillCall(RunnerContext& context, const Cudnn& cudnn, const KernelCall& call, std::uint64_t seed)
      : PrefillCall(context, call, seed), attention_(cudnn, shape_) {
    if (const std::int64_t bytes = attention_.workspace_bytes(); bytes > 0) {
      workspace_ = memory_.take_bytes(bytes);
    }
  }

  std::string kernel() const override {
    return fmt::format("cudnn_attention_engine_{}", attention_.engine());
  }

  kernels::LaunchResult launch(kernels::Stream stream) override {
    try {
      return attention_.launch({.query = query_.data,
                                .keys = keys_.data,
                                .values = values_.data,
                                .output = output_.data,
                                .workspace = workspace_},
                               stream);
    } catch (const CudnnError& error) {
      throw DeviceLost(error.what());
    }
  }

 private:
  CudnnAttention attention_;
  void* workspace_ = nullptr;
};

}  // namespace

std::unique_ptr<PreparedCall> prepare_cudnn_prefill_attention(RunnerContext& context, const Cudnn& cudnn,
                                                              const KernelCall& call, std::uint64_t seed) {
  require_bf16_prefill(call);
  try {
    return std::make_unique<CudnnPrefillCall>(context, cudnn, call, seed);
  } catch (const CudnnError& refusal) {
    throw NotPrepared(Prepared::Outcome::unsupported, refusal.what());
  }
}

}  // namespace inferometer
