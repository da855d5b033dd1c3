// Error handling for CUDA runtime calls.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <string>

#include "vt/dtype.h"

// Throws with the call, its error name and this file and line.
#define VT_CUDA_CHECK(call)                                                              \
  do {                                                                                   \
    const cudaError_t vt_err = (call);                                                   \
    VT_CHECK(vt_err == cudaSuccess, std::string(#call ": ") + cudaGetErrorString(vt_err)); \
  } while (0)

// For destructors, which must not throw.
#define VT_CUDA_WARN(call)                                                                  \
  do {                                                                                      \
    const cudaError_t vt_err = (call);                                                      \
    if (vt_err != cudaSuccess) std::fprintf(stderr, #call ": %s\n", cudaGetErrorString(vt_err)); \
  } while (0)
