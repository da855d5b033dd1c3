// A weight behind a pointer, a smart pointer, an optional, a container.
#include "prelude.h"

#include <map>
#include <optional>
#include <string>

View FromPointer(const Weight* w) {
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  return ViewOver(HostBytes(*w), w->dtype, Device::kCPU, DimsOf(*w));
}

View FromUnique(const std::unique_ptr<Weight>& w) {
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  return ViewOver(w->bytes.data(), w->dtype, Device::kCPU, DimsOf(*w));
}

View FromShared(const std::shared_ptr<Weight>& w) {
  Require(!w->q8_0_aligned, "a CUDA layout on the CPU arm");
  View t = ViewOver(w->bytes.data(), w->dtype, Device::kCPU, DimsOf(*w));  // want VT001 elem_kn_repacked
  t.repacked = w->repacked;
  return t;
}

View FromOptional(std::optional<Weight>& w) {
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  return w ? ViewOver(w->bytes.data(), w->dtype, Device::kCPU, DimsOf(*w)) : View{};
}

View FromMap(std::map<std::string, Weight>& model, const std::string& name) {
  Weight& w = model.at(name);
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  return ViewOver(w.bytes.data(), w.dtype, Device::kCPU, DimsOf(w));
}

std::vector<View> FromVector(const std::vector<Weight>& model) {
  std::vector<View> out;
  for (const auto& w : model) {
    // want VT001 repacked q8_0_aligned elem_kn_repacked
    out.push_back(ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w)));
  }
  return out;
}

// ok
std::vector<View> FromVectorFaithfully(const std::vector<Weight>& model, Device d) {
  std::vector<View> out;
  for (size_t i = 0; i < model.size(); ++i) {
    View t = ViewOver(HostBytes(model[i]), model[i].dtype, d, DimsOf(model[i]));
    t.repacked = model[i].repacked;
    t.q8_0_aligned = model[i].q8_0_aligned;
    t.elem_kn_repacked = model[i].elem_kn_repacked;
    out.push_back(t);
  }
  return out;
}
