#include "sim/metrics/cost_totals.hpp"

namespace inferometer {
namespace {

CostSum sum_of(const StepCost& cost) {
  return {cost.compute.count(), cost.bandwidth.count(), cost.latency.count(),     cost.communication.count(),
          cost.host.count(),    cost.bubble.count(),    cost.extrapolated.count()};
}

}  // namespace

CostSum& CostSum::operator+=(const CostSum& other) {
  compute += other.compute;
  bandwidth += other.bandwidth;
  latency += other.latency;
  communication += other.communication;
  host += other.host;
  bubble += other.bubble;
  extrapolated += other.extrapolated;
  return *this;
}

CostSum CostTotals::sum() const {
  CostSum sum = settled_;
  return sum += sum_of(recent_);
}

void CostTotals::settle() {
  settled_ += sum_of(recent_);
  recent_ = {};
}

}  // namespace inferometer
