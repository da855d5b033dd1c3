// A construction behind a condition that holds in no profile is unanalysed, never clean.
#include "prelude.h"

#if SNIPPET_VERSION >= 3
View Unseen(const Weight& w) {  // want VT902 -
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}
#endif

// ok
View Seen(const Weight& w) {
  Require(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "plain only");
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}
