// The carrying has a name of its own.
#include "prelude.h"

static void Carry(View& t, const Weight& w) {
  t.repacked = w.repacked;
  t.q8_0_aligned = w.q8_0_aligned;
  t.elem_kn_repacked = w.elem_kn_repacked;
}
static void CarryThrough(const Weight* from, View* to) {
  to->repacked = from->repacked;
  to->q8_0_aligned = from->q8_0_aligned;
  to->elem_kn_repacked = from->elem_kn_repacked;
}
static View WithLayoutOf(View t, const Weight& w) {
  t.repacked = w.repacked;
  t.q8_0_aligned = w.q8_0_aligned;
  t.elem_kn_repacked = w.elem_kn_repacked;
  return t;
}
static void CarryTwo(View& t, const Weight& w) {
  t.repacked = w.repacked;
  t.q8_0_aligned = w.q8_0_aligned;
}

// ok
View OutParameter(const Weight& w) {
  View t = ViewOver(HostBytes(w), w.dtype, w.d_dev ? Device::kCUDA : Device::kCPU, DimsOf(w));
  Carry(t, w);
  return t;
}

// ok
View OutPointer(const Weight& w, Device d) {
  View t = ViewOver(HostBytes(w), w.dtype, d, DimsOf(w));
  CarryThrough(&w, &t);
  return t;
}

// ok
View ThroughReturn(const Weight& w, Device d) {
  return WithLayoutOf(ViewOver(HostBytes(w), w.dtype, d, DimsOf(w)), w);
}

View TwoOfThree(const Weight& w, Device d) {
  View t = ViewOver(HostBytes(w), w.dtype, d, DimsOf(w));  // want VT001 elem_kn_repacked
  CarryTwo(t, w);
  return t;
}
