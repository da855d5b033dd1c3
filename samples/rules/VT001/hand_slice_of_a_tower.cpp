// A kernel cuts its own per-expert views and so walks around the guarded row cut.
#include "prelude.h"

void Grouped(View& out, const View& x, const View& tower, const int* ids, int count, int64_t n, int64_t k) {
  for (int i = 0; i < count; ++i) {
    View w{};
    // want VT001 repacked q8_0_aligned elem_kn_repacked
    w.data = static_cast<uint8_t*>(tower.data) + ids[i] * n * RowBytes(tower.dtype, k);
    w.dtype = tower.dtype;
    w.device = tower.device;
    w.rank = 2;
    w.shape[0] = n;
    w.shape[1] = k;
    w.stride[0] = k;
    w.stride[1] = 1;
    CpuMatmul(out, x, w);
  }
}
