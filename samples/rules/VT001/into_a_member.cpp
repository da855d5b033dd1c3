// The view lands in a member; its markers may be set there too.
#include "prelude.h"

struct Layer {
  View up;
  View down;
};

void FillBad(Layer& layer, const Weight& w) {
  // want VT001 q8_0_aligned elem_kn_repacked
  layer.up = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
  layer.up.repacked = w.repacked;
}

// ok
void FillGood(Layer& layer, const Weight& w) {
  Require(!w.q8_0_aligned, "a CUDA layout on the CPU arm");
  layer.down = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
  layer.down.repacked = w.repacked;
  layer.down.elem_kn_repacked = w.elem_kn_repacked;
}

// the markers go to the sibling
void FillSibling(Layer& layer, const Weight& w) {
  Require(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  layer.up = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // want VT001 repacked
  layer.down.repacked = w.repacked;
}
