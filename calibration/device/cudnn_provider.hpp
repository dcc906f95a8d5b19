#pragma once

// NVIDIA's fused attention, timed beside ours: how far ours is from the best public one. Who uses it:
// cuda_device.cpp. A build without cuDNN's headers has cudnn_absent.cpp in place of the rest.

#include <cstdint>
#include <memory>
#include <string>

#include "calibration/device/prepared_call.hpp"

namespace inferometer {

class Cudnn;  // cudnn_library.hpp

/// For the current CUDA device. Throws std::runtime_error with one sentence where cuDNN is not there, is too
/// old, or does not work with this GPU.
std::shared_ptr<Cudnn> open_cudnn();

/// "9.19.0"
std::string cudnn_version(const Cudnn& cudnn);

/// Variant bf16. Throws NotPrepared where cuDNN has no engine for the call, and DeviceLost.
std::unique_ptr<PreparedCall> prepare_cudnn_prefill_attention(RunnerContext& context, const Cudnn& cudnn,
                                                              const KernelCall& call, std::uint64_t seed);

}  // namespace inferometer
