// Code that branches on a marker has dealt with it.
#include "prelude.h"

void Interleaved(View& out, const View& x, const Weight& w);

// ok
void Linear(View& out, const View& x, const Weight& w) {
  Ensure(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  if (w.repacked) {
    Interleaved(out, x, w);
    return;
  }
  CpuMatmul(out, x, ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w)));
}

// ok: rewritten back first
View Plain(Weight& w) {
  Ensure(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  if (w.repacked) {
    DeinterleaveRows(w.bytes.data(), w.shape[0], w.shape[1]);
    w.repacked = false;
  }
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}
