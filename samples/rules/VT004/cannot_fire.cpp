// The marker was lost before the check looks at it.
#include "prelude.h"

View Vacuous(const Weight& w) {
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
  Ensure(!t.repacked && !t.q8_0_aligned && !t.elem_kn_repacked, "plain only");
  return t;
}

// ok: here the view has the owner's markers
View CanFire(const Weight& w, Device d) {
  View t = ViewOver(HostBytes(w), w.dtype, d, DimsOf(w));
  t.repacked = w.repacked;
  t.q8_0_aligned = w.q8_0_aligned;
  t.elem_kn_repacked = w.elem_kn_repacked;
  Ensure(!t.q8_0_aligned, "no aligned weight here");
  return t;
}
