// In a build without cuDNN's headers.

#include <stdexcept>

#include "calibration/device/cudnn_provider.hpp"
#include "calibration/device/not_prepared.hpp"

namespace inferometer {
namespace {

constexpr const char* kReason =
    "this build has no cuDNN: no headers of 9.8 or later were found; install them and build anew";

}  // namespace

std::shared_ptr<Cudnn> open_cudnn() {
  throw std::runtime_error(kReason);
}

std::string cudnn_version(const Cudnn&) {
  return "";
}

std::unique_ptr<PreparedCall> prepare_cudnn_prefill_attention(RunnerContext&, const Cudnn&, const KernelCall&,
                                                              std::uint64_t) {
  throw NotPrepared(Prepared::Outcome::unsupported, kReason);
}

}  // namespace inferometer
