// The construction comes out of a macro body; it is reported where the macro is used.
#include "prelude.h"

#define HOST_VIEW(w) ViewOver(HostBytes(w), (w).dtype, Device::kCPU, DimsOf(w))

void Linear(View& out, const View& x, const Weight& w) {
  View t = HOST_VIEW(w);  // want VT001 repacked q8_0_aligned elem_kn_repacked
  CpuMatmul(out, x, t);
}

// ok
void LinearFaithful(View& out, const View& x, const Weight& w) {
  SNIPPET_CHECK(!w.q8_0_aligned, "a CUDA layout on the CPU arm");
  View t = HOST_VIEW(w);
  t.repacked = w.repacked;
  t.elem_kn_repacked = w.elem_kn_repacked;
  CpuMatmul(out, x, t);
}
