// Nobody will know in a year why this was right.
#include "prelude.h"

View Bare(const Weight& w) {
  Require(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  // want VT901 repacked, VT001 repacked
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // vt-lint: allow(VT001 repacked)
}
