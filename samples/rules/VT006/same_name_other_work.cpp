// One name, two jobs: not twins.
#include "prelude.h"

namespace tables {
// ok
View Resident(const std::vector<float>& table, const Dims& dims) {
  return ViewOver(const_cast<float*>(table.data()), DType::kF32, Device::kCPU, dims);
}
}  // namespace tables

namespace weights {
// ok
View Resident(const Weight& w, const Dims& dims) {
  Require(!w.q8_0_aligned, "a CUDA layout on the CPU arm");
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, dims);
  t.repacked = w.repacked;
  t.elem_kn_repacked = w.elem_kn_repacked;
  return t;
}
}  // namespace weights
