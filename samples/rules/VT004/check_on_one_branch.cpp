// The check stands where only some calls come by.
#include "prelude.h"

View Sometimes(const Weight& w, bool paranoid) {
  if (paranoid) Ensure(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "plain only");
  // want VT004 repacked q8_0_aligned elem_kn_repacked
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}

View OtherReturn(const Weight& w, bool staged) {
  if (staged) {
    Ensure(!w.repacked && !w.elem_kn_repacked, "a CPU-only transform");
    View t = ViewOver(w.d_dev.get(), w.dtype, Device::kCUDA, DimsOf(w));
    t.q8_0_aligned = w.q8_0_aligned;
    return t;
  }
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCUDA, DimsOf(w));  // want VT004 repacked elem_kn_repacked
  t.q8_0_aligned = w.q8_0_aligned;
  return t;
}

// ok
View Always(const Weight& w, bool host) {
  if (host) {
    Ensure(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "plain only");
  } else {
    SNIPPET_CHECK(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "plain only");
  }
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}
