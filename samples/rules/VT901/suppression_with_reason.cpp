// A reason is a few words behind the parenthesis.
#include "prelude.h"

// ok
View Bare(const Weight& w) {
  Require(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  // vt-lint: allow(VT001 repacked) only its address is compared
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}
