#pragma once

#include "kernels/common/host_device.hpp"

namespace inferometer::kernels {

/// ceil(amount / step). Preconditions: amount >= 0, step > 0.
template <class Integer>
INFEROMETER_HOST_DEVICE constexpr Integer divide_up(Integer amount, Integer step) {
  return (amount + step - 1) / step;
}

/// The least multiple of step that is not below amount.
template <class Integer>
INFEROMETER_HOST_DEVICE constexpr Integer round_up(Integer amount, Integer step) {
  return divide_up(amount, step) * step;
}

}  // namespace inferometer::kernels
