// Copies from global to shared memory that go on while the kernel does: declarations only.
// CUDA C++ Programming Guide, "Pipeline Primitives Interface".
#ifndef VT_LINT_CUDA_PIPELINE_H
#define VT_LINT_CUDA_PIPELINE_H
#include "cuda_runtime.h"
__device__ void __pipeline_memcpy_async(void* shared, const void* global, size_t size, size_t zfill = 0);
__device__ void __pipeline_commit();
__device__ void __pipeline_wait_prior(size_t pipelines);
#endif
