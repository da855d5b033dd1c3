// An assert is no check in a release build.
#include "prelude.h"

#include <cassert>

View Asserted(const Weight& w) {
  assert(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked);
  // want VT004 repacked q8_0_aligned elem_kn_repacked
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}
