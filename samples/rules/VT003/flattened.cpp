// A reshape that keeps the markers.
#include "prelude.h"

View Flat(const View& v) {
  View t = v;
  t.rank = 1;
  t.shape[0] = v.shape[0] * v.shape[1];  // want VT003 repacked q8_0_aligned elem_kn_repacked
  t.stride[0] = 1;
  return t;
}

View Doubled(const Weight& w, Device d) {
  // want VT003 repacked q8_0_aligned elem_kn_repacked
  View t = ViewOver(HostBytes(w), w.dtype, d, {w.shape[0] * 2, w.shape[1] / 2});
  t.repacked = w.repacked;
  t.q8_0_aligned = w.q8_0_aligned;
  t.elem_kn_repacked = w.elem_kn_repacked;
  return t;
}

// ok: the shape is written again, not changed
View Same(const View& v) {
  View t = v;
  t.rank = 2;
  t.shape[0] = v.shape[0];
  t.shape[1] = v.shape[1];
  return t;
}

View Turned(const Weight& w) {
  // want VT003 repacked q8_0_aligned elem_kn_repacked
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, {w.shape[1], w.shape[0]});
  t.repacked = w.repacked;
  t.q8_0_aligned = w.q8_0_aligned;
  t.elem_kn_repacked = w.elem_kn_repacked;
  return t;
}

// ok
View AsItIs(const Weight& w, Device d) {
  View t = ViewOver(HostBytes(w), w.dtype, d, {w.shape[0], w.shape[1]});
  t.repacked = w.repacked;
  t.q8_0_aligned = w.q8_0_aligned;
  t.elem_kn_repacked = w.elem_kn_repacked;
  return t;
}
