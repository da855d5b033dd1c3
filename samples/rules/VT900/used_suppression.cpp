// Suppressed, with a reason, on the line and above it.
#include "prelude.h"

// ok
View OnTheLine(const Weight& w) {
  Require(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // vt-lint: allow(VT001 repacked) read by no kernel
}

// ok
View LineAbove(const Weight& w) {
  Require(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  // vt-lint: allow(VT001 repacked) read by no kernel
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}

// ok: a string is no comment
const char* Help() { return "// vt-lint: allow(VT001 repacked) as text"; }
