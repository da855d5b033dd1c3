// A suppression that no longer suppresses anything.
#include "prelude.h"

View Faithful(const Weight& w, Device d) {
  // want VT900 repacked
  View t = ViewOver(HostBytes(w), w.dtype, d, DimsOf(w));  // vt-lint: allow(VT001 repacked) carried since the repair
  t.repacked = w.repacked;
  t.q8_0_aligned = w.q8_0_aligned;
  t.elem_kn_repacked = w.elem_kn_repacked;
  return t;
}
