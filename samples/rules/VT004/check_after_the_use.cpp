// The check comes when the kernel has run.
#include "prelude.h"

void Linear(View& out, const View& x, const Weight& w) {
  // want VT004 repacked q8_0_aligned elem_kn_repacked
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
  CpuMatmul(out, x, t);
  Ensure(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "plain only");
}

// ok
void LinearChecked(View& out, const View& x, const Weight& w) {
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
  Ensure(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "plain only");
  CpuMatmul(out, x, t);
}
