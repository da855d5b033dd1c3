// Float GEMM over a plain [N, K] weight: one warp per output, lanes along K.
#include "cuda_check.h"
#include "cuda_kernels.h"
#include "device_math.cuh"

namespace vt::cuda {
namespace {

constexpr int kWarpsPerBlock = 4;

__device__ __forceinline__ float Load(const void* p, DType t, int64_t i) {
  if (t == DType::kF32) return __ldg(static_cast<const float*>(p) + i);
  const unsigned short bits = __ldg(static_cast<const unsigned short*>(p) + i);
  if (t == DType::kF16) return HalfBitsToFloat(bits);
  return __uint_as_float(static_cast<unsigned>(bits) << 16);
}

__global__ void __launch_bounds__(kWarp* kWarpsPerBlock)
    FloatGemmKernel(const float* __restrict__ x, const void* __restrict__ w, DType t,
                    float* __restrict__ out, int64_t n, int64_t k) {
  const int lane = threadIdx.x;
  const int64_t col = static_cast<int64_t>(blockIdx.x) * kWarpsPerBlock + threadIdx.y;
  if (col >= n) return;  // uniform over the warp
  const int64_t row = blockIdx.y;
  float acc = 0.0F;
  for (int64_t p = lane; p < k; p += kWarp) acc += x[row * k + p] * Load(w, t, col * k + p);
  acc = WarpSum(acc);
  if (lane == 0) out[row * n + col] = acc;
}

}  // namespace

void MatmulBTKernel(Queue& q, Tensor& out, const Tensor& a, const Tensor& b) {
  const int64_t m = a.shape[0], n = b.shape[0], k = a.shape[1];
  VT_CHECK(b.dtype == DType::kF32 || b.dtype == DType::kF16 || b.dtype == DType::kBF16,
           "MatmulBT: float weight expected");
  VT_CHECK(m <= 65535, "MatmulBT: too many activation rows for one launch");
  if (m == 0 || n == 0) return;
  const dim3 grid(GridSize(n, kWarpsPerBlock), static_cast<unsigned>(m));
  const dim3 threads(kWarp, kWarpsPerBlock);
  FloatGemmKernel<<<grid, threads, 0, static_cast<cudaStream_t>(q.handle)>>>(
      a.Ptr<const float>(), b.data, b.dtype, out.Ptr<float>(), n, k);
  VT_CUDA_CHECK(cudaGetLastError());
}

}  // namespace vt::cuda
