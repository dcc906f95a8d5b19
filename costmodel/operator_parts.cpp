#include "costmodel/operator_parts.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "costmodel/kernels/kernel_work.hpp"

namespace inferometer {

KernelCall call_of(KernelFamily family, std::string_view variant, std::initializer_list<double> axes) {
  KernelCall call{.family = family, .variant = std::string(variant)};
  std::copy(axes.begin(), axes.end(), call.axes.begin());
  return call;
}

Operator elementwise(std::string_view name, std::int64_t repeats, std::int64_t flops, std::int64_t bytes) {
  return {.name = name,
          .family = OperatorFamily::elementwise,
          .repeats = repeats,
          .flops = Flops(static_cast<double>(flops)),
          .hbm_bytes = Bytes(bytes)};
}

Operator measured_elementwise(std::string_view variant, std::int64_t tokens, std::int64_t width,
                              Operator part) {
  part.call =
      call_of(KernelFamily::elementwise, variant, {static_cast<double>(tokens), static_cast<double>(width)});
  return part;
}

Operator gemm(std::string_view name, std::string_view format, const ModelSpec& model, std::int64_t repeats,
              std::int64_t rows, std::int64_t inputs, std::int64_t outputs) {
  const bool is_checkpoint = format == kCheckpointFormat;
  const WeightFormat& bytes = weight_format(format);
  const double weights = static_cast<double>(inputs * outputs) *
                         (is_checkpoint ? static_cast<double>(model.weight_bytes) : bytes.weight_bytes);
  const double activations = static_cast<double>(rows) * (bytes.input_bytes * static_cast<double>(inputs) +
                                                          static_cast<double>(kActivationBytes * outputs));
  return {.name = name,
          .family = OperatorFamily::gemm,
          .repeats = repeats,
          .flops = Flops(static_cast<double>(2 * rows * inputs * outputs)),
          .hbm_bytes = Bytes(static_cast<std::int64_t>(std::ceil(weights) + activations)),
          .call = call_of(
              KernelFamily::gemm, format,
              {static_cast<double>(rows), static_cast<double>(outputs), static_cast<double>(inputs)})};
}

void add_bias(Operator& product, const ModelSpec& model, std::int64_t rows, std::int64_t outputs) {
  product.flops += Flops(static_cast<double>(rows * outputs));
  product.hbm_bytes += Bytes(model.weight_bytes * outputs);
}

Operator all_reduce(std::int64_t repeats, std::int64_t gpus, std::int64_t bytes) {
  return {.name = "all-reduce",
          .family = OperatorFamily::collective,
          .repeats = repeats,
          .link_bytes = Bytes(2 * (gpus - 1) * bytes / gpus),
          .ring_steps = 2 * (gpus - 1),
          .call = call_of(KernelFamily::collective, "all_reduce",
                          {static_cast<double>(gpus), static_cast<double>(bytes)})};
}

Operator all_gather(std::string_view name, std::int64_t repeats, std::int64_t gpus, std::int64_t share) {
  return {.name = name,
          .family = OperatorFamily::collective,
          .repeats = repeats,
          .link_bytes = Bytes((gpus - 1) * share),
          .ring_steps = gpus - 1,
          .call = call_of(KernelFamily::collective, "all_gather",
                          {static_cast<double>(gpus), static_cast<double>(gpus * share)})};
}

std::string_view attention_format(const ModelSpec& model) {
  return model.kv_bytes == 1 ? "fp8_kv" : "bf16";
}

}  // namespace inferometer
