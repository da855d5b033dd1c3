// Half precision types for parsing only: CUDA Math API, https://docs.nvidia.com/cuda/cuda-math-api/
#ifndef VT_LINT_CUDA_FP16_H
#define VT_LINT_CUDA_FP16_H
#include <cuda_runtime.h>

#define VT_LINT_FLOAT16(T, T2, RAW, RAW2)                                                        \
  struct RAW { unsigned short x; };                                                              \
  struct RAW2 { unsigned short x, y; };                                                          \
  struct __align__(2) T {                                                                        \
    unsigned short __x;                                                                          \
    T() = default;                                                                               \
    __host__ __device__ T(float);                                                                \
    __host__ __device__ T(double);                                                               \
    __host__ __device__ T(int);                                                                  \
    __host__ __device__ T(RAW);                                                                  \
    __host__ __device__ operator float() const;                                                  \
    __host__ __device__ operator RAW() const;                                                    \
    __host__ __device__ T& operator+=(T);                                                        \
    __host__ __device__ T& operator-=(T);                                                        \
    __host__ __device__ T& operator*=(T);                                                        \
  };                                                                                             \
  struct __align__(4) T2 {                                                                       \
    T x, y;                                                                                      \
    T2() = default;                                                                              \
    __host__ __device__ T2(T, T);                                                                \
    __host__ __device__ T2(RAW2);                                                                \
    __host__ __device__ T2& operator+=(T2);                                                      \
    __host__ __device__ T2& operator*=(T2);                                                      \
  };                                                                                             \
  __host__ __device__ T operator+(T, T);                                                         \
  __host__ __device__ T operator-(T, T);                                                         \
  __host__ __device__ T operator*(T, T);                                                         \
  __host__ __device__ T operator/(T, T);                                                         \
  __host__ __device__ T operator-(T);                                                            \
  __host__ __device__ bool operator==(T, T);                                                     \
  __host__ __device__ bool operator<(T, T);                                                      \
  __host__ __device__ bool operator>(T, T);                                                      \
  __host__ __device__ T2 operator+(T2, T2);                                                      \
  __host__ __device__ T2 operator-(T2, T2);                                                      \
  __host__ __device__ T2 operator*(T2, T2);                                                      \
  __device__ T __shfl_sync(unsigned int, T, int, int = 32);                                      \
  __host__ __device__ T __hadd(T, T);                                                            \
  __host__ __device__ T __hsub(T, T);                                                            \
  __host__ __device__ T __hmul(T, T);                                                            \
  __host__ __device__ T __hdiv(T, T);                                                            \
  __host__ __device__ T __hfma(T, T, T);                                                         \
  __host__ __device__ T __hneg(T);                                                               \
  __host__ __device__ T __habs(T);                                                               \
  __host__ __device__ T __hmax(T, T);                                                            \
  __host__ __device__ T __hmin(T, T);                                                            \
  __host__ __device__ bool __hgt(T, T);                                                          \
  __host__ __device__ bool __hlt(T, T);                                                          \
  __host__ __device__ bool __hisnan(T);                                                          \
  __device__ T hexp(T);                                                                          \
  __device__ T hrsqrt(T);                                                                        \
  __device__ T hsqrt(T);                                                                         \
  __host__ __device__ T2 __hadd2(T2, T2);                                                        \
  __host__ __device__ T2 __hsub2(T2, T2);                                                        \
  __host__ __device__ T2 __hmul2(T2, T2);                                                        \
  __host__ __device__ T2 __hfma2(T2, T2, T2);                                                    \
  __host__ __device__ T2 __hneg2(T2);                                                            \
  __host__ __device__ T2 __habs2(T2);                                                            \
  __host__ __device__ T2 __hmax2(T2, T2);                                                        \
  __host__ __device__ T2 __hmin2(T2, T2);                                                        \
  __host__ __device__ T __low2##T(T2);                                                           \
  __host__ __device__ T __high2##T(T2);
VT_LINT_FLOAT16(__half, __half2, __half_raw, __half2_raw)
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
__host__ __device__ half __float2half(float);
__host__ __device__ half __float2half_rn(float);
__host__ __device__ half __double2half(double);
__host__ __device__ float __half2float(half);
__host__ __device__ half2 __float2half2_rn(float);
__host__ __device__ half2 __floats2half2_rn(float, float);
__host__ __device__ float2 __half22float2(half2);
__host__ __device__ half2 __half2half2(half);
__host__ __device__ half2 __halves2half2(half, half);
__host__ __device__ half2 __float22half2_rn(float2);
__host__ __device__ float __low2float(half2);
__host__ __device__ float __high2float(half2);
__host__ __device__ half __low2half(half2);
__host__ __device__ half __high2half(half2);
__host__ __device__ half2 make_half2(half, half);
__host__ __device__ half __int2half_rn(int);
__host__ __device__ half __ushort_as_half(unsigned short);
__host__ __device__ unsigned short __half_as_ushort(half);
__host__ __device__ half __short_as_half(short);
#endif
