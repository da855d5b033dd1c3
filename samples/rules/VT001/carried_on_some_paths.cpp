// A marker that travels only when an option is set has been dropped on the other path.
#include "prelude.h"

View Optional(const Weight& w, bool fast) {
  Require(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // want VT001 repacked
  if (fast) t.repacked = w.repacked;
  return t;
}

View LeavesEarly(const Weight& w) {
  Require(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // want VT001 repacked
  if (w.rank == 1) return t;
  t.repacked = w.repacked;
  return t;
}

// ok: both paths carry
View BothPaths(const Weight& w, bool twice) {
  Require(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
  if (twice) {
    t.rank = 1;
    t.repacked = w.repacked;
  } else {
    t.repacked = w.repacked;
  }
  return t;
}

// ok: nothing is lost where the marker is false
View CarriedWhenSet(const Weight& w) {
  Require(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
  if (w.repacked) t.repacked = true;
  return t;
}

// ok
View CarriedByOr(const Weight& w) {
  Require(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
  t.repacked |= w.repacked;
  return t;
}
