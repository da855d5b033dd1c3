// What looks like a cut and is none.
#include "prelude.h"

// ok
View FromZero(const Weight& w, Device d) {
  View t = ViewOver(HostBytes(w) + 0, w.dtype, d, DimsOf(w));
  t.repacked = w.repacked;
  t.q8_0_aligned = w.q8_0_aligned;
  t.elem_kn_repacked = w.elem_kn_repacked;
  return t;
}

// ok
Weight AllOfThem(const Weight& w) {
  Weight out;
  out.bytes.assign(w.bytes.begin(), w.bytes.end());
  out.repacked = w.repacked;
  out.q8_0_aligned = w.q8_0_aligned;
  out.elem_kn_repacked = w.elem_kn_repacked;
  return out;
}
