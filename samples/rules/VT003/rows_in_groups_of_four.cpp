// The interleave may be cut between its groups, the others nowhere.
#include "prelude.h"

// ok
void Grouped(View& out, const View& x, const View& tower, const int* ids, int count, int64_t n, int64_t k) {
  Require(!tower.q8_0_aligned && !tower.elem_kn_repacked, "this layout cannot be cut by rows");
  Require(!tower.repacked || n % 4 == 0, "a group would be cut");
  for (int i = 0; i < count; ++i) {
    View w = tower;
    w.data = static_cast<uint8_t*>(tower.data) + ids[i] * n * RowBytes(tower.dtype, k);
    w.shape[0] = n;
    CpuMatmul(out, x, w);
  }
}

void Unchecked(View& out, const View& x, const View& tower, int64_t e, int64_t n, int64_t k) {
  Require(!tower.q8_0_aligned && !tower.elem_kn_repacked, "this layout cannot be cut by rows");
  View w = tower;
  w.data = static_cast<uint8_t*>(tower.data) + e * n * RowBytes(tower.dtype, k);  // want VT003 repacked
  w.shape[0] = n;
  CpuMatmul(out, x, w);
}

void WrongGroup(View& out, const View& x, const View& tower, int64_t e, int64_t n, int64_t k) {
  Require(!tower.q8_0_aligned && !tower.elem_kn_repacked, "this layout cannot be cut by rows");
  Require(n % 2 == 0, "pairs");
  View w = tower;
  w.data = static_cast<uint8_t*>(tower.data) + e * n * RowBytes(tower.dtype, k);  // want VT003 repacked
  w.shape[0] = n;
  CpuMatmul(out, x, w);
}

void OnlyTheInterleave(View& out, const View& x, const View& tower, int64_t e, int64_t n, int64_t k) {
  Require(n % 4 == 0, "a group would be cut");
  View w = tower;
  // want VT003 q8_0_aligned elem_kn_repacked
  w.data = static_cast<uint8_t*>(tower.data) + e * n * RowBytes(tower.dtype, k);
  w.shape[0] = n;
  CpuMatmul(out, x, w);
}

// ok: eight rows are two groups
void LargerGroup(View& out, const View& x, const View& tower, int64_t e, int64_t n, int64_t k) {
  Require(!tower.q8_0_aligned && !tower.elem_kn_repacked, "this layout cannot be cut by rows");
  if (n % 8 != 0) throw std::runtime_error("rows");
  View w = tower;
  w.data = static_cast<uint8_t*>(tower.data) + e * n * RowBytes(tower.dtype, k);
  w.shape[0] = n;
  CpuMatmul(out, x, w);
}
