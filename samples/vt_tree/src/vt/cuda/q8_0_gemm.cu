// Q8_0 GEMM. One warp computes kRowTile rows of one output column, so each weight byte is loaded
// once per kRowTile activations. A lane takes half a block (16 quants) a step: neighbouring lanes
// read neighbouring halves, which the aligned layout turns into one coalesced 512-byte request.
#include "cuda_check.h"
#include "cuda_kernels.h"
#include "device_math.cuh"

namespace vt::cuda {
namespace {

constexpr int kWarpsPerBlock = 4;
constexpr int kRowTile = 4;

__device__ __forceinline__ float RoundToHalf(float f) {
  unsigned short h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
  return HalfBitsToFloat(h);
}

// x[M,K] f32 -> quants[M,K] and scales[M,K/32]; one warp per block of 32, one lane per value.
__global__ void QuantizeKernel(const float* __restrict__ x, int64_t blocks,
                               int8_t* __restrict__ quants, float* __restrict__ scales) {
  const int lane = threadIdx.x;
  const int64_t b = static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  if (b >= blocks) return;  // uniform over the warp
  const float v = x[b * kQ8Block + lane];
  float amax = fabsf(v);
  for (int s = kWarp / 2; s > 0; s /= 2) amax = fmaxf(amax, __shfl_xor_sync(kFullMask, amax, s));
  const float d = amax / 127.0F;
  const float inv = d > 0.0F ? 1.0F / d : 0.0F;
  const float r = fminf(fmaxf(roundf(v * inv), -127.0F), 127.0F);
  quants[b * kQ8Block + lane] = static_cast<int8_t>(r);
  if (lane == 0) scales[b] = RoundToHalf(d);
}

// Sixteen quants of half-block `half` (counted over the whole weight) and their block's scale.
template <bool kAligned>
__device__ __forceinline__ int4 LoadHalf(const uint8_t* __restrict__ w, int64_t total_blocks,
                                         int64_t half, float* scale) {
  const int64_t block = half / 2;
  if constexpr (kAligned) {
    const auto* scales = reinterpret_cast<const unsigned short*>(w + total_blocks * kQ8Block);
    *scale = HalfBitsToFloat(__ldg(scales + block));
    return __ldg(reinterpret_cast<const int4*>(w) + half);
  } else {
    // A 34-byte block is 2-byte aligned only: eight halfword loads.
    const auto* p = reinterpret_cast<const unsigned short*>(w + block * sizeof(BlockQ8_0));
    *scale = HalfBitsToFloat(__ldg(p));
    p += 1 + 8 * (half % 2);
    const auto word = [p](int i) {
      const unsigned lo = __ldg(p + 2 * i), hi = __ldg(p + 2 * i + 1);
      return static_cast<int>(lo | hi << 16);
    };
    return make_int4(word(0), word(1), word(2), word(3));
  }
}

template <bool kAligned>
__global__ void __launch_bounds__(kWarp* kWarpsPerBlock)
    GemmKernel(const int8_t* __restrict__ xq, const float* __restrict__ xd,
               const uint8_t* __restrict__ w, float* __restrict__ out, int64_t m, int64_t n,
               int64_t k) {
  const int lane = threadIdx.x;
  const int64_t col = static_cast<int64_t>(blockIdx.x) * kWarpsPerBlock + threadIdx.y;
  if (col >= n) return;  // uniform over the warp
  const int64_t row0 = static_cast<int64_t>(blockIdx.y) * kRowTile;
  const int64_t nblk = k / kQ8Block;
  float acc[kRowTile] = {};
  for (int64_t h = lane; h < 2 * nblk; h += kWarp) {
    float dw;
    const int4 wq = LoadHalf<kAligned>(w, n * nblk, col * 2 * nblk + h, &dw);
#pragma unroll
    for (int r = 0; r < kRowTile; ++r) {
      if (row0 + r >= m) break;
      const int64_t row = row0 + r;
      const int4 x = __ldg(reinterpret_cast<const int4*>(xq + row * k) + h);
      int dot = __dp4a(wq.x, x.x, 0);
      dot = __dp4a(wq.y, x.y, dot);
      dot = __dp4a(wq.z, x.z, dot);
      dot = __dp4a(wq.w, x.w, dot);
      acc[r] += static_cast<float>(dot) * (xd[row * nblk + h / 2] * dw);
    }
  }
#pragma unroll
  for (int r = 0; r < kRowTile; ++r) {
    acc[r] = WarpSum(acc[r]);
    if (lane == 0 && row0 + r < m) out[(row0 + r) * n + col] = acc[r];
  }
}

// Stream-ordered scratch.
class Scratch {
 public:
  Scratch(size_t bytes, cudaStream_t stream) : stream_(stream) {
    VT_CUDA_CHECK(cudaMallocAsync(&p_, bytes, stream));
  }
  ~Scratch() { VT_CUDA_WARN(cudaFreeAsync(p_, stream_)); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void* get() const { return p_; }

 private:
  void* p_ = nullptr;
  cudaStream_t stream_;
};

}  // namespace

void MatmulBTQuantKernel(Queue& q, Tensor& out, const Tensor& a, const Tensor& b) {
  const int64_t m = a.shape[0], n = b.shape[0], k = a.shape[1];
  VT_CHECK(k % kQ8Block == 0, "MatmulBTQuant: K must be whole blocks");
  if (m == 0 || n == 0) return;
  const dim3 grid(GridSize(n, kWarpsPerBlock), GridSize(m, kRowTile));
  VT_CHECK(grid.y <= 65535, "MatmulBTQuant: too many activation rows for one launch");
  const cudaStream_t stream = static_cast<cudaStream_t>(q.handle);
  const int64_t blocks = m * (k / kQ8Block);
  const Scratch quants(static_cast<size_t>(m * k), stream);
  const Scratch scales(static_cast<size_t>(blocks) * sizeof(float), stream);
  auto* xq = static_cast<int8_t*>(quants.get());
  auto* xd = static_cast<float*>(scales.get());

  const dim3 threads(kWarp, kWarpsPerBlock);
  if (blocks > 0) {
    QuantizeKernel<<<GridSize(blocks, kWarpsPerBlock), threads, 0, stream>>>(
        a.Ptr<const float>(), blocks, xq, xd);
    VT_CUDA_CHECK(cudaGetLastError());
  }
  const uint8_t* w = b.Ptr<const uint8_t>();
  if (b.q8_0_aligned) {
    VT_CHECK(reinterpret_cast<uintptr_t>(w) % 16 == 0, "MatmulBTQuant: aligned weight is not");
    GemmKernel<true><<<grid, threads, 0, stream>>>(xq, xd, w, out.Ptr<float>(), m, n, k);
  } else {
    GemmKernel<false><<<grid, threads, 0, stream>>>(xq, xd, w, out.Ptr<float>(), m, n, k);
  }
  VT_CUDA_CHECK(cudaGetLastError());
}

}  // namespace vt::cuda
