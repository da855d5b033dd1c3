// The lambda that checks is never called before the view is made.
#include "prelude.h"

View Uncalled(const Weight& w) {
  auto check = [&] { Ensure(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "plain only"); };
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
  (void)check;
  return t;
}

// ok
View Called(const Weight& w) {
  auto check = [&] { Ensure(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "plain only"); };
  check();
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}

// ok: what is called runs the check
void RunByAnother(float* out, const Weight& w) {
  auto twice = [&](auto&& step) { return step(1) + step(2); };
  out[0] = twice([&](int i) {
    SNIPPET_CHECK(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "plain only");
    return static_cast<float>(w.bytes[static_cast<size_t>(i)]);
  });
  DecodeRows(w.bytes.data(), w.dtype, w.shape[1], out);
}

void RunBySome(float* out, const Weight& w, bool careful) {
  auto perhaps = [&](auto&& step) { return careful ? step(1) : 0.0f; };
  out[0] = perhaps([&](int i) {
    SNIPPET_CHECK(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "plain only");
    return static_cast<float>(i);
  });
  // want VT007 repacked q8_0_aligned elem_kn_repacked
  DecodeRows(w.bytes.data(), w.dtype, w.shape[1], out);
}
