// A constant where the weight's own marker belongs.
#include "prelude.h"

View AlwaysInterleaved(const Weight& w) {
  Ensure(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // want VT005 repacked
  t.repacked = true;
  return t;
}

View Guessed(const Weight& w) {
  Ensure(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // want VT005 repacked
  t.repacked = HostHasInt8Mma() && w.dtype == DType::kQ8_0;
  return t;
}

// ok: a literal next to the rewrite that it speaks of
void Rewrite(Weight& w) {
  InterleaveRows(w.bytes.data(), w.shape[0], w.shape[1]);
  w.repacked = true;
}

// ok: the literal repeats what was just tested
View Known(const Weight& w) {
  Ensure(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
  t.repacked = w.repacked ? true : false;
  return t;
}
