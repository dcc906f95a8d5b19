#pragma once

// Marks a stretch of time for profilers (NVTX); nothing where the toolkit has no NVTX header or no profiler
// is attached. Who uses it: cuda_device.cpp.

namespace inferometer {

class NvtxRange {
 public:
  /// `name` is a static text.
  explicit NvtxRange(const char* name);
  ~NvtxRange();
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace inferometer
