// Two names of one object are one object.
#include "prelude.h"

struct Layer {
  Weight up;
  Weight down;
};

// ok
View Alias(const Weight& w) {
  const Weight& same = w;
  const Weight* also = &w;
  View t = ViewOver(HostBytes(same), w.dtype, Device::kCPU, DimsOf(w));
  t.repacked = also->repacked;
  t.elem_kn_repacked = w.elem_kn_repacked;
  Ensure(!same.q8_0_aligned, "a CUDA layout on the CPU arm");
  return t;
}

// ok
View MemberReference(const Layer& layer) {
  const auto& w = layer.up;
  Ensure(!layer.up.q8_0_aligned, "a CUDA layout on the CPU arm");
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
  t.repacked = layer.up.repacked;
  t.elem_kn_repacked = w.elem_kn_repacked;
  return t;
}

// the check looks at the sibling member
View OtherMember(const Layer& layer) {
  const auto& w = layer.up;
  Ensure(!layer.down.repacked && !layer.down.q8_0_aligned && !layer.down.elem_kn_repacked, "plain only");
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}

View ViewAlias(const Weight& w) {
  Ensure(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  View made = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
  View& t = made;
  t.repacked = w.repacked;
  return made;
}
