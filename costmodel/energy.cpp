#include "costmodel/energy.hpp"

namespace inferometer {

Joules gpu_energy(Watts tdp, const StepCost& busy, Duration idle, const PowerShares& shares) {
  const Duration waiting = busy.latency + busy.communication + busy.host + busy.bubble + idle;
  const double full_power_seconds = shares.compute * to_seconds(busy.compute) +
                                    shares.bandwidth * to_seconds(busy.bandwidth) +
                                    shares.waiting * to_seconds(waiting);
  return Joules(tdp.count() * full_power_seconds);
}

}  // namespace inferometer
