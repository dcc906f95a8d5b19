#include "costmodel/energy.hpp"

#include <algorithm>

namespace inferometer {

Watts power_in_steps(Watts tdp, double compute, double memory, const PowerShares& shares) {
  const double share = shares.waiting + shares.compute * compute + shares.memory * memory;
  return tdp * std::min(share, 1.0);
}

Watts power_unused(Watts tdp, const PowerShares& shares) {
  return tdp * shares.unused;
}

}  // namespace inferometer
