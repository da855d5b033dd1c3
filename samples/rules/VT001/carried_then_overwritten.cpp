// The markers were set on the old value of the variable.
#include "prelude.h"

View Overwritten(const Weight& w) {
  Require(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  View t;
  t.repacked = w.repacked;
  t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // want VT001 repacked
  return t;
}

View Cleared(const Weight& w) {
  Require(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // want VT001 repacked
  t.repacked = w.repacked;
  t.rank = 2;
  t.repacked = false;
  return t;
}
