#include "calibration/fit/roofline_fit.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/check.hpp"

namespace inferometer {
namespace {

/// A constant that is fitted: where it stands, where the search begins and may go. All are searched as
/// logarithms.
struct Parameter {
  double RooflineConstants::*constant;
  double start, low, high;
};

std::vector<Parameter> parameters_of(KernelFamily family, double shortest_s) {
  const Parameter start_up{&RooflineConstants::start_up_s, shortest_s, 1e-8, 1};
  const Parameter per_unit{&RooflineConstants::per_unit_s, 2e-8, 1e-12, 1e-2};
  const Parameter compute{&RooflineConstants::compute_efficiency, 0.7, 1e-3, 1};
  const Parameter bandwidth{&RooflineConstants::bandwidth_efficiency, 0.8, 1e-3, 1};
  const Parameter overhang{&RooflineConstants::overhang_tokens, 300, 1, 1e5};
  switch (family) {
    case KernelFamily::gemm:
    case KernelFamily::moe:
      return {start_up, compute, bandwidth};
    case KernelFamily::prefill_attention:
    case KernelFamily::mla_prefill:
      return {start_up, compute, bandwidth, overhang};
    case KernelFamily::decode_attention:
    case KernelFamily::mla_decode:
      return {start_up, per_unit, {&RooflineConstants::compute_efficiency, 0.3, 1e-3, 1}, bandwidth};
    case KernelFamily::elementwise:
    case KernelFamily::collective:
      return {start_up, bandwidth};
    case KernelFamily::host:
      return {start_up, per_unit};
  }
  check_failed("family", __FILE__, __LINE__, "unknown kernel family");
}

class RooflineSearch {
 public:
  RooflineSearch(std::span<const MeasuredKernel> points, const GpuSpec& gpu) : gpu_(gpu) {
    // The work of experts takes as long to count as that of eight other kernels; its roofline is none the
    // worse.
    const std::size_t most_points = points[0].call.family == KernelFamily::moe ? 500 : 4000;
    const std::size_t stride = (points.size() + most_points - 1) / most_points;
    double shortest_s = points[0].seconds;
    for (std::size_t i = 0; i < points.size(); i += stride) {
      points_.push_back(&points[i]);
      shortest_s = std::min(shortest_s, points[i].seconds);
    }
    parameters_ = parameters_of(points[0].call.family, shortest_s);
    logs_.resize(static_cast<Eigen::Index>(parameters_.size()));
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      logs_[static_cast<Eigen::Index>(p)] = std::log(parameters_[p].start);
    }
  }

  RooflineConstants run() {
    constexpr int kSteps = 60;
    double damping = 1e-3;
    double best = loss(logs_);
    for (int step = 0; step < kSteps && damping < 1e6; ++step) {
      const Eigen::VectorXd moved = clamped(logs_ + change(damping));
      const double moved_loss = loss(moved);
      if (moved_loss < best) {
        damping = std::max(damping / 4, 1e-9);
        best = moved_loss;
        logs_ = moved;
      } else {
        damping *= 8;
      }
    }
    return constants(logs_);
  }

 private:
  [[nodiscard]] RooflineConstants constants(const Eigen::VectorXd& logs) const {
    RooflineConstants result;
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      result.*parameters_[p].constant = std::exp(logs[static_cast<Eigen::Index>(p)]);
    }
    return result;
  }

  [[nodiscard]] Eigen::VectorXd clamped(Eigen::VectorXd logs) const {
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      double& value = logs[static_cast<Eigen::Index>(p)];
      value = std::clamp(value, std::log(parameters_[p].low), std::log(parameters_[p].high));
    }
    return logs;
  }

  /// log(predicted / measured) of every point.
  [[nodiscard]] Eigen::VectorXd residuals(const Eigen::VectorXd& logs) const {
    const RooflineConstants trial = constants(logs);
    Eigen::VectorXd result(static_cast<Eigen::Index>(points_.size()));
    for (std::size_t i = 0; i < points_.size(); ++i) {
      result[static_cast<Eigen::Index>(i)] =
          std::log(roofline_parts(points_[i]->call, trial, gpu_).total_s() / points_[i]->seconds);
    }
    return result;
  }

  [[nodiscard]] double loss(const Eigen::VectorXd& logs) const { return residuals(logs).cwiseAbs().sum(); }

  /// One damped step of weighted least squares. Weights turn squares into absolute values, but for the
  /// smallest residuals, where they would grow without bound.
  [[nodiscard]] Eigen::VectorXd change(double damping) const {
    constexpr double kSmallResidual = 0.01;
    constexpr double kDifference = 1e-5;
    const Eigen::VectorXd now = residuals(logs_);
    Eigen::MatrixXd jacobian(now.size(), logs_.size());
    for (Eigen::Index p = 0; p < logs_.size(); ++p) {
      Eigen::VectorXd beside = logs_;
      beside[p] -= kDifference;
      jacobian.col(p) = (now - residuals(beside)) / kDifference;
    }
    const Eigen::VectorXd weights = now.cwiseAbs().cwiseMax(kSmallResidual).cwiseInverse();
    Eigen::MatrixXd normal = jacobian.transpose() * weights.asDiagonal() * jacobian;
    normal.diagonal() *= 1 + damping;
    normal.diagonal().array() += 1e-9;
    return normal.ldlt().solve(-(jacobian.transpose() * weights.cwiseProduct(now)));
  }

  const GpuSpec& gpu_;
  std::vector<const MeasuredKernel*> points_;
  std::vector<Parameter> parameters_;
  Eigen::VectorXd logs_;
};

}  // namespace

RooflineConstants fit_roofline(std::span<const MeasuredKernel> points, const GpuSpec& gpu) {
  INFEROMETER_CHECK(!points.empty(), "nothing to fit");
  return RooflineSearch(points, gpu).run();
}

}  // namespace inferometer
