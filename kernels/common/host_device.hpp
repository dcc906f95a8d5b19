#pragma once

// Marks functions that kernels and the host both call: what can be tested without a GPU is written once, as
// such a function, and tested on the host.

#ifdef __CUDACC__
#define INFEROMETER_HOST_DEVICE __host__ __device__
#else
#define INFEROMETER_HOST_DEVICE
#endif
