// A check of many parts, each of which can hold in several ways: what comes behind it is still looked at.
#include "prelude.h"

bool Packed(const View& v) {
  int64_t step = 1;
  for (int i = v.rank - 1; i >= 0; --i) {
    if (v.shape[i] != 1 && v.stride[i] != step) return false;
    step *= v.shape[i];
  }
  return true;
}

void Forward(View& out, const View& a, const View& b, const View& c, const View& d, const View& e, const View& f,
             const Weight& w) {
  SNIPPET_CHECK(Packed(a) && Packed(b) && Packed(c) && Packed(d) && Packed(e) && Packed(f) && Packed(out), "packed operands");
  SNIPPET_CHECK(a.device == out.device && b.device == out.device && c.device == out.device, "one device");
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // want VT001 repacked q8_0_aligned elem_kn_repacked
  CpuMatmul(out, a, t);
}

// ok
void Checked(View& out, const View& a, const View& b, const View& c, const View& d, const View& e, const View& f,
             const Weight& w) {
  SNIPPET_CHECK(Packed(a) && Packed(b) && Packed(c) && Packed(d) && Packed(e) && Packed(f) && Packed(out), "packed operands");
  SNIPPET_CHECK(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "a plain weight");
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
  CpuMatmul(out, a, t);
}
