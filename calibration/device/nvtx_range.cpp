#include "calibration/device/nvtx_range.hpp"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define INFEROMETER_HAVE_NVTX 1
#endif

namespace inferometer {

NvtxRange::NvtxRange([[maybe_unused]] const char* name) {
#ifdef INFEROMETER_HAVE_NVTX
  nvtxRangePushA(name);
#endif
}

NvtxRange::~NvtxRange() {
#ifdef INFEROMETER_HAVE_NVTX
  nvtxRangePop();
#endif
}

}  // namespace inferometer
