// A kernel that takes a naked pointer cannot see a marker.
#include "prelude.h"

void Gemv(const Weight& w, const float* x, float* out) {
  // want VT007 repacked q8_0_aligned elem_kn_repacked
  RawGemv(w.bytes.data(), w.shape[0], w.shape[1], x, out);
}

void GemvOfView(const View& w, const float* x, float* out) {
  const auto* p = static_cast<const uint8_t*>(w.data);
  RawGemv(p, w.shape[0], w.shape[1], x, out);  // want VT007 repacked q8_0_aligned elem_kn_repacked
}

// ok
void GemvOfPlain(const View& w, const float* x, float* out) {
  SNIPPET_CHECK(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "a plain weight");
  RawGemv(static_cast<const uint8_t*>(w.data), w.shape[0], w.shape[1], x, out);
}
