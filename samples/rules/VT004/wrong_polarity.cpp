// The check lets in what it should keep out.
#include "prelude.h"

View Admits(const Weight& w) {
  Ensure(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  Ensure(w.repacked, "plain only");
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // want VT004 repacked
}

View ThrowsOnPlain(const Weight& w) {
  Ensure(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  if (!w.repacked) throw std::runtime_error("interleaved weight");
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // want VT004 repacked
}

View BareOnlyWhenMarked(const Weight& w) {
  Ensure(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  if (w.repacked) {
    return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // todo-want VT004 repacked
  }
  return {};
}

// ok: a reader of the layout itself
void OfInterleavedOnly(float* out, const View& b) {
  Ensure(b.repacked && !b.q8_0_aligned && !b.elem_kn_repacked, "interleaved only");
  out[0] = static_cast<const uint8_t*>(b.data)[0];
}

void FastPathForgetsToAsk(float* out, const View& b, bool fast) {
  Ensure(!b.q8_0_aligned && !b.elem_kn_repacked, "plain or interleaved");
  const auto* bytes = static_cast<const uint8_t*>(b.data);
  if (fast) {
    out[0] = bytes[1];  // want VT004 repacked
    return;
  }
  if (b.repacked) {
    OfInterleavedOnly(out, b);
    return;
  }
  out[0] = bytes[0];
}
