#pragma once

// How a config.json says that the weights of a checkpoint are quantised.

#include "costmodel/config_fields.hpp"
#include "costmodel/model_spec.hpp"

namespace inferometer {

/// Sets the formats of layers and of experts, and the width of KV elements where the checkpoint gives it,
/// from quantization_config or compression_config. Read are fp8 (DeepSeek's blocks of 128 x 128, a scale a
/// tensor or channel), mxfp4 (gpt-oss: experts alone), awq and gptq (int4, groups of 128), compressed-tensors
/// and modelopt (fp8, int4, nvfp4). Embeddings, lm_head, routers and norms stay as they are. Anything else is
/// noted as a mistake. Precondition: model.moe is read.
void read_quantization(ConfigFields& fields, ModelSpec& model);

}  // namespace inferometer
