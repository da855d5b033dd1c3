// Every way to say no, ahead of a bare construction.
#include "prelude.h"

View ByFunction(const Weight& w) {
  Require(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "plain only");
  return ViewOver(HostBytes(w), w.dtype, Device::kCUDA, DimsOf(w));
}

// ok
View ByMacro(const Weight& w) {
  SNIPPET_CHECK(!w.repacked, "interleaved");
  SNIPPET_CHECK(!w.q8_0_aligned, "aligned");
  SNIPPET_CHECK(!w.elem_kn_repacked, "transposed");
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}

// ok
View ByDeMorgan(const Weight& w) {
  Ensure(!(w.repacked || w.q8_0_aligned || w.elem_kn_repacked), "plain only");
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}

// ok
View ByComparison(const Weight& w) {
  Ensure(w.repacked == false && w.q8_0_aligned == false && false == w.elem_kn_repacked, "plain only");
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}

// ok
View ByThrow(const Weight& w) {
  if (w.repacked || w.q8_0_aligned) throw std::runtime_error("quantised layout");
  if (w.elem_kn_repacked) {
    throw std::runtime_error("float layout");
  }
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}

// ok
bool ByReturnFalse(View& out, const Weight& w) {
  if (w.repacked) return false;
  if (w.q8_0_aligned) return false;
  if (w.elem_kn_repacked) return false;
  out = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
  return true;
}

// ok
View ByNoreturn(const Weight& w) {
  if (w.repacked || w.q8_0_aligned || w.elem_kn_repacked) Fail("plain only");
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}

// ok
View ByPositiveBranch(const Weight& w) {
  if (!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked) {
    return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
  }
  return View{};
}

// ok
View ByTernary(const Weight& w) {
  return w.repacked || w.q8_0_aligned || w.elem_kn_repacked
             ? View{}
             : ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}
