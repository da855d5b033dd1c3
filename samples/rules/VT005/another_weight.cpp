// The bytes of one weight and the marker of its neighbour.
#include "prelude.h"

void Gated(View& out, const Weight& gate, const Weight& up) {
  Ensure(!gate.q8_0_aligned && !up.q8_0_aligned, "a CUDA layout on the CPU arm");
  Ensure(!gate.elem_kn_repacked && !up.elem_kn_repacked, "a float layout");
  View g = ViewOver(HostBytes(gate), gate.dtype, Device::kCPU, DimsOf(gate));
  g.repacked = gate.repacked;
  View u = ViewOver(HostBytes(up), up.dtype, Device::kCPU, DimsOf(up));  // want VT005 repacked
  u.repacked = gate.repacked;
  CpuMatmul(out, g, u);
}

std::vector<View> Shifted(const std::vector<Weight>& model) {
  std::vector<View> out;
  for (size_t i = 0; i + 1 < model.size(); ++i) {
    Ensure(!model[i].q8_0_aligned && !model[i].elem_kn_repacked, "plain or interleaved");
    // want VT005 repacked
    View t = ViewOver(HostBytes(model[i]), model[i].dtype, Device::kCPU, DimsOf(model[i]));
    t.repacked = model[i + 1].repacked;
    out.push_back(t);
  }
  return out;
}

struct Layer {
  Weight up;
  Weight down;
};

View WrongMember(const Layer& layer) {
  Ensure(!layer.up.q8_0_aligned && !layer.up.elem_kn_repacked, "plain or interleaved");
  // want VT005 repacked
  View t = ViewOver(HostBytes(layer.up), layer.up.dtype, Device::kCPU, DimsOf(layer.up));
  t.repacked = layer.down.repacked;
  return t;
}

View OverAPlainOne(const Weight& w, const Weight& other) {
  SNIPPET_CHECK(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "plain only");
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // want VT005 repacked
  t.repacked = other.repacked;
  return t;
}
