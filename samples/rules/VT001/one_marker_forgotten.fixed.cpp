// Two of three are not three.
#include "prelude.h"

View ForgetsTheFloatOne(const Weight& w) {
  Require(!w.q8_0_aligned, "a CUDA layout on the CPU arm");
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
  t.elem_kn_repacked = w.elem_kn_repacked;
  t.repacked = w.repacked;
  return t;
}

View ForgetsToRefuse(const Weight& w) {
  Require(!w.q8_0_aligned, "q8_0_aligned has no reader on this device");
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
  t.repacked = w.repacked;
  t.elem_kn_repacked = w.elem_kn_repacked;
  return t;
}
