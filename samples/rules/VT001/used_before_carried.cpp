// The kernel has already run when the marker arrives.
#include "prelude.h"

void TooLate(View& out, const View& x, const Weight& w) {
  Require(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // want VT001 repacked
  CpuMatmul(out, x, t);
  t.repacked = w.repacked;
}

void CopiedBefore(View& out, const View& x, const Weight& w) {
  Require(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // want VT001 repacked
  View copy = t;
  t.repacked = w.repacked;
  CpuMatmul(out, x, copy);
}
