// The check was true when it was made.
#include "prelude.h"

View Rewritten(Weight& w) {
  Ensure(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "plain only");
  InterleaveRows(w.bytes.data(), w.shape[0], w.shape[1]);
  w.repacked = true;
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // want VT004 repacked
}

View Rebound(const Weight* w, const Weight* fallback) {
  Ensure(!w->repacked && !w->q8_0_aligned && !w->elem_kn_repacked, "plain only");
  if (w->rank == 0) w = fallback;
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  return ViewOver(HostBytes(*w), w->dtype, Device::kCPU, DimsOf(*w));
}
