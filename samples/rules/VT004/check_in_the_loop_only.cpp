// A loop may run no time at all.
#include "prelude.h"

View InLoop(const Weight& w, const std::vector<int>& ids) {
  for (int id : ids) {
    Ensure(id >= 0 && !w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "plain only");
  }
  // want VT004 repacked q8_0_aligned elem_kn_repacked
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}
