// The same chain with a faithful root.
#include "prelude.h"

// ok
View ViewOn(const Weight& w, void* p, Device d) {
  View t = ViewOver(p, w.dtype, d, DimsOf(w));
  t.repacked = w.repacked;
  t.q8_0_aligned = w.q8_0_aligned;
  t.elem_kn_repacked = w.elem_kn_repacked;
  return t;
}

View HostView(const Weight& w) { return ViewOn(w, HostBytes(w), Device::kCPU); }
