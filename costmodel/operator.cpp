#include "costmodel/operator.hpp"

#include "base/check.hpp"

namespace inferometer {

std::string_view to_string(OperatorFamily family) {
  switch (family) {
    case OperatorFamily::gemm:
      return "gemm";
    case OperatorFamily::experts:
      return "experts";
    case OperatorFamily::prefill_attention:
      return "prefill attention";
    case OperatorFamily::decode_attention:
      return "decode attention";
    case OperatorFamily::elementwise:
      return "elementwise";
    case OperatorFamily::collective:
      return "collective";
    case OperatorFamily::transfer:
      return "transfer";
  }
  check_failed("family", __FILE__, __LINE__, "unknown operator family");
}

Flops total_flops(std::span<const Operator> operators) {
  Flops sum;
  for (const Operator& part : operators) {
    sum += part.flops * static_cast<double>(part.repeats);
  }
  return sum;
}

Bytes total_hbm_bytes(std::span<const Operator> operators) {
  Bytes sum;
  for (const Operator& part : operators) {
    sum += part.hbm_bytes * part.repeats;
  }
  return sum;
}

}  // namespace inferometer
