// The same arms, told apart by a predicate and an else.
#include "prelude.h"

View Resident(const Weight& w, Device d) {
  if (IsCpu(d)) {
    // want VT004 repacked q8_0_aligned elem_kn_repacked
    return ViewOver(HostBytes(w), w.dtype, d, DimsOf(w));
  } else {
    Require(!w.repacked && !w.elem_kn_repacked && (!w.q8_0_aligned || IsCuda(d)), "no reader on this device");
    View t = ViewOver(w.d_dev.get(), w.dtype, d, DimsOf(w));
    t.q8_0_aligned = w.q8_0_aligned;
    return t;
  }
}
