// No factory at all: a view filled field by field.
#include "prelude.h"

View Filled(const Weight& w) {
  View t;
  t.data = HostBytes(w);  // want VT001 repacked q8_0_aligned elem_kn_repacked
  t.dtype = w.dtype;
  t.rank = 2;
  t.shape[0] = w.shape[0];
  t.shape[1] = w.shape[1];
  return t;
}

// ok
View FilledFaithfully(const Weight& w) {
  Require(!w.q8_0_aligned, "a CUDA layout on the CPU arm");
  View t{};
  t.dtype = w.dtype;
  t.repacked = w.repacked;
  t.elem_kn_repacked = w.elem_kn_repacked;
  t.data = HostBytes(w);
  return t;
}

void FilledThrough(View* t, const Weight* w) {
  t->data = const_cast<uint8_t*>(w->bytes.data());  // want VT001 repacked q8_0_aligned elem_kn_repacked
  t->dtype = w->dtype;
  t->repacked = false;
  t->q8_0_aligned = false;
  t->elem_kn_repacked = false;
}
