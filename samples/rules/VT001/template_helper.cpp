// A helper for any owner, known once it is used.
#include "prelude.h"

template <typename Owner>
View Over(const Owner& w, Device d) {
  return ViewOver(HostBytes(w), w.dtype, d, DimsOf(w));  // want VT001 repacked q8_0_aligned elem_kn_repacked
}

template <typename T>
View Typed(const Weight& w, DType dtype) {
  auto* p = reinterpret_cast<T*>(HostBytes(w));  // may VT007 repacked q8_0_aligned elem_kn_repacked
  return ViewOver(p, dtype, Device::kCPU, DimsOf(w));  // want VT001 repacked q8_0_aligned elem_kn_repacked
}

// ok
template <typename Owner>
View Faithful(const Owner& w, Device d) {
  View t = ViewOver(HostBytes(w), w.dtype, d, DimsOf(w));
  t.repacked = w.repacked;
  t.q8_0_aligned = w.q8_0_aligned;
  t.elem_kn_repacked = w.elem_kn_repacked;
  return t;
}

void Use(View& out, const View& x, const Weight& w) {
  CpuMatmul(out, x, Over(w, Device::kCPU));
  CpuMatmul(out, x, Typed<float>(w, DType::kF32));
  CpuMatmul(out, x, Faithful(w, Device::kCPU));
}
