// The right weight and the wrong marker.
#include "prelude.h"

View Crossed(const Weight& w, Device d) {
  View t = ViewOver(HostBytes(w), w.dtype, d, DimsOf(w));  // want VT005 repacked q8_0_aligned
  t.repacked = w.q8_0_aligned;
  t.q8_0_aligned = w.repacked;
  t.elem_kn_repacked = w.elem_kn_repacked;
  return t;
}
