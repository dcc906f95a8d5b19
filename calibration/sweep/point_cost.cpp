#include "calibration/sweep/point_cost.hpp"

#include "calibration/sweep/sweep_space.hpp"
#include "costmodel/kernels/kernel_work.hpp"

namespace inferometer {
namespace {

// Of the datasheet's roofs: what large GEMMs and copies reach of them on A100 and H100 (accuracy tables of
// the shipped profiles: 0.72 to 0.88), and a few microseconds to start.
constexpr double kUsualEfficiency = 0.75;
constexpr double kStartUpSeconds = 5e-6;

// Runs of a point: its check, warm-ups, and the samples that little noise takes.
constexpr double kRuns = 1 + 3 + 14;
// A matrix library offers eight algorithms; each is timed once and the best three again, after a run to warm
// up.
constexpr double kTrialsOfLibrary = 2 * (8 + 3);
// Random numbers of 16 bit, by the instructions that one takes on an H100; other GPUs are taken to be alike.
constexpr double kFilledBytesPerSecond = 0.5e12;
// Besides the kernel, a sample flushes the cache, records events and waits for them.
constexpr double kSampleOverheadSeconds = 30e-6;
constexpr double kFlushedCaches = 2;  // sizes of the L2 cache written over
// Capturing a graph, recomputing a few hundred outputs on the CPU, writing the record.
constexpr double kPointOverheadSeconds = 4e-3;

}  // namespace

double expected_run_seconds(const KernelCall& call, const GpuSpec& gpu) {
  return kStartUpSeconds + datasheet_seconds(kernel_work(call), gpu) / kUsualEfficiency;
}

double expected_point_seconds(const KernelCall& call, const GpuSpec& gpu) {
  const double bandwidth = gpu.hbm_bandwidth.count() * kUsualEfficiency;
  const double fill_s = buffer_bytes(call) / kFilledBytesPerSecond;
  const double flush_s = kFlushedCaches * static_cast<double>(gpu.l2_cache.count()) / bandwidth;
  const double runs = kRuns + (call.family == KernelFamily::gemm ? kTrialsOfLibrary : 0);
  return kPointOverheadSeconds + fill_s +
         runs * (expected_run_seconds(call, gpu) + flush_s + kSampleOverheadSeconds);
}

}  // namespace inferometer
