// The factory's body is in another program; it gets the bytes and gives a view.
#include "prelude.h"

View Resident(const Weight& w) {
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  return FarViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}

// ok
View Faithful(const Weight& w) {
  View t = FarViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
  t.repacked = w.repacked;
  t.elem_kn_repacked = w.elem_kn_repacked;
  Ensure(!w.q8_0_aligned, "a CUDA layout on the CPU arm");
  return t;
}
