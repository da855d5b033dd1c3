// A factory over an offset pointer, with the markers of the whole.
#include "prelude.h"

View RowsOf(const Weight& w, int64_t first, int64_t n, Device d) {
  auto* p = HostBytes(w) + first * RowBytes(w.dtype, w.shape[1]);
  View t = ViewOver(p, w.dtype, d, {n, w.shape[1]});  // want VT003 repacked q8_0_aligned elem_kn_repacked
  t.repacked = w.repacked;
  t.q8_0_aligned = w.q8_0_aligned;
  t.elem_kn_repacked = w.elem_kn_repacked;
  return t;
}

View DeviceRowsOf(const Weight& w, int64_t first, int64_t n) {
  Require(!w.repacked && !w.elem_kn_repacked, "a CPU-only transform");
  auto* p = static_cast<uint8_t*>(w.d_dev.get()) + first * RowBytes(w.dtype, w.shape[1]);
  View t = ViewOver(p, w.dtype, Device::kCUDA, {n, w.shape[1]});  // want VT003 q8_0_aligned
  t.q8_0_aligned = w.q8_0_aligned;
  return t;
}

View FromElement(const Weight& w, size_t first, Device d) {
  Require(!w.q8_0_aligned && !w.elem_kn_repacked, "cannot be cut");
  auto* p = const_cast<uint8_t*>(&w.bytes[first]);
  View t = ViewOver(p, w.dtype, d, {1, w.shape[1]});  // want VT003 repacked
  t.repacked = w.repacked;
  return t;
}

// ok
View RowsOfPlain(const Weight& w, int64_t first, int64_t n, Device d) {
  if (w.repacked || w.q8_0_aligned || w.elem_kn_repacked) return {};
  auto* p = HostBytes(w) + first * RowBytes(w.dtype, w.shape[1]);
  return ViewOver(p, w.dtype, d, {n, w.shape[1]});
}
