// A lambda is a helper without a name.
#include "prelude.h"

void Local(View& out, const View& x, const Weight& a, const Weight& b) {
  auto view = [](const Weight& w) {
    // want VT001 repacked q8_0_aligned elem_kn_repacked
    return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
  };
  CpuMatmul(out, x, view(a));
  CpuMatmul(out, x, view(b));
}

// ok
void LocalFaithful(View& out, const View& x, const Weight& a) {
  const auto view = [&](const Weight& w) {
    Ensure(!w.q8_0_aligned, "a CUDA layout on the CPU arm");
    View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
    t.repacked = w.repacked;
    t.elem_kn_repacked = w.elem_kn_repacked;
    return t;
  };
  CpuMatmul(out, x, view(a));
}

// ok: the captured weight was refused outside
void Captured(View& out, const View& x, const Weight& w) {
  Require(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "plain only");
  auto run = [&] { CpuMatmul(out, x, ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w))); };
  run();
}

void CapturedBare(View& out, const View& x, const Weight& w) {
  auto run = [&out, &x, &w]() {
    // want VT001 repacked q8_0_aligned elem_kn_repacked
    View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
    CpuMatmul(out, x, t);
  };
  run();
}
