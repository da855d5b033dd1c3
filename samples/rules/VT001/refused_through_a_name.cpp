// The refusal has a name: a boolean local, a predicate, a helper that throws.
#include "prelude.h"

bool IsPlain(const Weight& w) { return !w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked; }
bool IsMarked(const Weight& w) { return w.repacked || w.q8_0_aligned || w.elem_kn_repacked; }
void RequirePlain(const Weight& w, const char* who) {
  Ensure(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, who);
}

// ok
View ByLocal(const Weight& w) {
  const bool plain = !w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked;
  if (!plain) return {};
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}

// ok
View ByLocalOfTwo(const Weight& a, const Weight& b) {
  const bool pair = !a.repacked && !b.repacked && !a.q8_0_aligned && !b.q8_0_aligned && !a.elem_kn_repacked &&
                    !b.elem_kn_repacked;
  Ensure(pair, "plain only");
  View t = ViewOver(HostBytes(a), a.dtype, Device::kCPU, DimsOf(a));
  View u = ViewOver(HostBytes(b), b.dtype, Device::kCPU, DimsOf(b));
  CpuMatmul(t, u, u);
  return t;
}

// ok
View ByPredicate(const Weight& w) {
  Ensure(IsPlain(w), "plain only");
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}

// ok
View ByNegatedPredicate(const Weight& w) {
  if (IsMarked(w)) return {};
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}

// ok
View ByHelper(const Weight& w) {
  RequirePlain(w, "view");
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}
