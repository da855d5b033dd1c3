// bfloat16 types for parsing only: CUDA Math API, https://docs.nvidia.com/cuda/cuda-math-api/
#ifndef VT_LINT_CUDA_BF16_H
#define VT_LINT_CUDA_BF16_H
#include <cuda_fp16.h>

VT_LINT_FLOAT16(__nv_bfloat16, __nv_bfloat162, __nv_bfloat16_raw, __nv_bfloat162_raw)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
__host__ __device__ nv_bfloat16 __float2bfloat16(float);
__host__ __device__ nv_bfloat16 __float2bfloat16_rn(float);
__host__ __device__ nv_bfloat16 __float2bfloat16_rz(float);
__host__ __device__ nv_bfloat16 __double2bfloat16(double);
__host__ __device__ float __bfloat162float(nv_bfloat16);
__host__ __device__ nv_bfloat162 __float2bfloat162_rn(float);
__host__ __device__ nv_bfloat162 __floats2bfloat162_rn(float, float);
__host__ __device__ nv_bfloat162 __float22bfloat162_rn(float2);
__host__ __device__ float2 __bfloat1622float2(nv_bfloat162);
__host__ __device__ nv_bfloat162 __bfloat162bfloat162(nv_bfloat16);
__host__ __device__ nv_bfloat162 __halves2bfloat162(nv_bfloat16, nv_bfloat16);
__host__ __device__ nv_bfloat162 make_bfloat162(nv_bfloat16, nv_bfloat16);
__host__ __device__ float __low2float(nv_bfloat162);
__host__ __device__ float __high2float(nv_bfloat162);
__host__ __device__ nv_bfloat16 __low2bfloat16(nv_bfloat162);
__host__ __device__ nv_bfloat16 __high2bfloat16(nv_bfloat162);
__host__ __device__ nv_bfloat16 __ushort_as_bfloat16(unsigned short);
__host__ __device__ unsigned short __bfloat16_as_ushort(nv_bfloat16);
__host__ __device__ nv_bfloat16 __int2bfloat16_rn(int);
#endif
