// The only caller refuses first: a note for who adds the next caller.
#include "prelude.h"

// want VT001 repacked q8_0_aligned elem_kn_repacked
static View Bare(const Weight& w) { return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w)); }

// ok
void Linear(View& out, const View& x, const Weight& w) {
  Require(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "plain only");
  CpuMatmul(out, x, Bare(w));
}
