// A message stops nobody.
#include "prelude.h"

void Warn(const char* what);

View Warned(const Weight& w) {
  Ensure(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  if (w.repacked) Warn("an interleaved weight is read as plain");
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // todo-want VT004 repacked
}
