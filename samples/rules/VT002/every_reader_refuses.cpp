// Not silent, but wrong: a producer sets a marker on a tower all of whose readers refuse it.
#include "prelude.h"

void LoadTower(Weight& w) {
  if (HostHasInt8Mma() && w.dtype == DType::kQ8_0) {
    InterleaveRows(w.bytes.data(), w.shape[0], w.shape[1]);
    w.repacked = true;  // todo-want VT002 repacked
  }
}

void RowMatmul(View& out, const View& x, const Weight& w, int64_t rows, int64_t first) {
  Require(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "needs plain rows");
  View t = ViewOver(HostBytes(w) + first * RowBytes(w.dtype, w.shape[1]), w.dtype, Device::kCPU, {rows, w.shape[1]});
  CpuMatmul(out, x, t);
}
