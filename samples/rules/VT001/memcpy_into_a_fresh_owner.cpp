// The bytes are copied by hand and the markers are not.
#include "prelude.h"

Weight Cloned(const Weight& w) {
  Weight out;
  out.dtype = w.dtype;
  out.bytes.resize(w.bytes.size());
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  std::memcpy(out.bytes.data(), w.bytes.data(), w.bytes.size());
  return out;
}

// ok
Weight ClonedFaithfully(const Weight& w) {
  Weight out;
  out.dtype = w.dtype;
  out.bytes.resize(w.bytes.size());
  std::memcpy(out.bytes.data(), w.bytes.data(), w.bytes.size());
  out.repacked = w.repacked;
  out.q8_0_aligned = w.q8_0_aligned;
  out.elem_kn_repacked = w.elem_kn_repacked;
  return out;
}

Weight Stacked(const Weight& a, const Weight& b) {
  Weight out;
  out.bytes.resize(a.bytes.size() + b.bytes.size());
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  std::memcpy(out.bytes.data(), a.bytes.data(), a.bytes.size());
  std::memcpy(out.bytes.data() + a.bytes.size(), b.bytes.data(), b.bytes.size());
  return out;
}

// ok
Weight StackedPlain(const Weight& a, const Weight& b) {
  for (const Weight* w : {&a, &b}) Ensure(!w->repacked && !w->q8_0_aligned && !w->elem_kn_repacked, "plain only");
  Weight out;
  out.bytes.resize(a.bytes.size() + b.bytes.size());
  std::memcpy(out.bytes.data(), a.bytes.data(), a.bytes.size());
  std::memcpy(out.bytes.data() + a.bytes.size(), b.bytes.data(), b.bytes.size());
  return out;
}
