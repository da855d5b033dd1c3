// The CPU leaves early, so what follows is every other device.
#include "prelude.h"

View Resident(const Weight& w, Device d) {
  if (d == Device::kCPU) {
    View t = ViewOver(HostBytes(w), w.dtype, d, DimsOf(w));
    t.repacked = w.repacked;
    t.elem_kn_repacked = w.elem_kn_repacked;
    Require(!w.q8_0_aligned, "a CUDA layout on the CPU arm");
    return t;
  }
  // want VT001 repacked elem_kn_repacked, VT004 q8_0_aligned
  return ViewOver(w.d_dev.get(), w.dtype, d, DimsOf(w));
}
