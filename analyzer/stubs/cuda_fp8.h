// 8-bit floating point types for parsing only: CUDA Math API, https://docs.nvidia.com/cuda/cuda-math-api/
#ifndef VT_LINT_CUDA_FP8_H
#define VT_LINT_CUDA_FP8_H
#include <cuda_bf16.h>
#include <cuda_fp16.h>
typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
#define VT_LINT_FLOAT8(K)                                                                        \
  struct __nv_fp8_##K {                                                                          \
    __nv_fp8_storage_t __x;                                                                      \
    __nv_fp8_##K() = default;                                                                    \
    explicit __host__ __device__ __nv_fp8_##K(float);                                            \
    explicit __host__ __device__ __nv_fp8_##K(half);                                             \
    explicit __host__ __device__ __nv_fp8_##K(nv_bfloat16);                                      \
    explicit __host__ __device__ operator float() const;                                         \
    explicit __host__ __device__ operator half() const;                                          \
  };                                                                                             \
  struct __nv_fp8x2_##K {                                                                        \
    __nv_fp8x2_storage_t __x;                                                                    \
    __nv_fp8x2_##K() = default;                                                                  \
    explicit __host__ __device__ __nv_fp8x2_##K(float2);                                         \
    explicit __host__ __device__ operator float2() const;                                        \
    explicit __host__ __device__ operator half2() const;                                         \
  };                                                                                             \
  struct __nv_fp8x4_##K {                                                                        \
    __nv_fp8x4_storage_t __x;                                                                    \
    __nv_fp8x4_##K() = default;                                                                  \
    explicit __host__ __device__ __nv_fp8x4_##K(float4);                                         \
    explicit __host__ __device__ operator float4() const;                                        \
  };
VT_LINT_FLOAT8(e4m3)
VT_LINT_FLOAT8(e5m2)
__host__ __device__ __nv_fp8_storage_t __nv_cvt_float_to_fp8(float, __nv_saturation_t, __nv_fp8_interpretation_t);
__host__ __device__ __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2, __nv_saturation_t, __nv_fp8_interpretation_t);
__host__ __device__ __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t, __nv_fp8_interpretation_t);
__host__ __device__ __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t, __nv_fp8_interpretation_t);
#endif
