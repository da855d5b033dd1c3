// Q8_0 GEMM over the four-row interleave.
#include "cpu_kernels.h"
#include "vt/weight_layout.h"

#if defined(__aarch64__) && defined(__ARM_FEATURE_MATMUL_INT8)
#include <arm_neon.h>
#define VT_HAVE_I8MM 1
#endif

namespace vt::cpu {
namespace {

#ifdef VT_HAVE_I8MM

// Two activation rows against four weight rows. SMMLA multiplies 2x8 by (2x8)^T into a 2x2 int32
// tile, so a block of 32 takes four steps on each pair of weight rows. A null `out1` drops the
// second row.
void Tile2x4(const BlockQ8_0* x0, const BlockQ8_0* x1, const BlockQ8_0x4* w, int64_t nblk,
             float* out0, float* out1) {
  float32x4_t acc0 = vdupq_n_f32(0.0F), acc1 = vdupq_n_f32(0.0F);
  for (int64_t p = 0; p < nblk; ++p) {
    int32x4_t t01 = vdupq_n_s32(0), t23 = vdupq_n_s32(0);
    for (int c = 0; c < 4; ++c) {
      const int8x16_t x = vcombine_s8(vld1_s8(x0[p].qs + 8 * c), vld1_s8(x1[p].qs + 8 * c));
      t01 = vmmlaq_s32(t01, x, vld1q_s8(w[p].qs + 32 * c));
      t23 = vmmlaq_s32(t23, x, vld1q_s8(w[p].qs + 32 * c + 16));
    }
    const int32x4_t dot0 = vcombine_s32(vget_low_s32(t01), vget_low_s32(t23));
    const int32x4_t dot1 = vcombine_s32(vget_high_s32(t01), vget_high_s32(t23));
    const float32x4_t dw = vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(w[p].d)));
    acc0 = vaddq_f32(acc0, vmulq_f32(vcvtq_f32_s32(dot0), vmulq_n_f32(dw, F16ToF32(x0[p].d))));
    acc1 = vaddq_f32(acc1, vmulq_f32(vcvtq_f32_s32(dot1), vmulq_n_f32(dw, F16ToF32(x1[p].d))));
  }
  vst1q_f32(out0, acc0);
  if (out1 != nullptr) vst1q_f32(out1, acc1);
}

#else

void Tile2x4(const BlockQ8_0* x0, const BlockQ8_0* x1, const BlockQ8_0x4* w, int64_t nblk,
             float* out0, float* out1) {
  const BlockQ8_0* xs[2] = {x0, x1};
  float* outs[2] = {out0, out1};
  for (int i = 0; i < 2 && outs[i] != nullptr; ++i) {
    for (int r = 0; r < 4; ++r) {
      float acc = 0.0F;
      for (int64_t p = 0; p < nblk; ++p) {
        int32_t dot = 0;
        for (int e = 0; e < kQ8Block; ++e) {
          dot += int32_t{xs[i][p].qs[e]} * int32_t{w[p].qs[(4 * (e / 8) + r) * 8 + e % 8]};
        }
        acc += static_cast<float>(dot) * (F16ToF32(xs[i][p].d) * F16ToF32(w[p].d[r]));
      }
      outs[i][r] = acc;
    }
  }
}

#endif

}  // namespace

void MatmulQ8x4(Tensor& out, const Tensor& a, const Tensor& b) {
  const int64_t m = a.shape[0], n = b.shape[0], k = a.shape[1], nblk = k / kQ8Block;
  VT_CHECK(QuantRepackShapeOk(b.dtype, n, k), "MatmulQ8x4: shape cannot hold the interleave");
  const std::vector<BlockQ8_0> rows = QuantizeActivations(a);
  for (int64_t i = 0; i < m; i += 2) {
    const bool pair = i + 1 < m;
    const BlockQ8_0* x0 = rows.data() + i * nblk;
    const BlockQ8_0* x1 = pair ? x0 + nblk : x0;
    float* y = out.Ptr<float>() + i * n;
    for (int64_t j = 0; j < n; j += 4) {
      const BlockQ8_0x4* w = b.Ptr<const BlockQ8_0x4>() + j / 4 * nblk;
      Tile2x4(x0, x1, w, nblk, y + j, pair ? y + n + j : nullptr);
    }
  }
}

}  // namespace vt::cpu
