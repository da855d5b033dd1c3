// The weight is a member, the view too.
#include "prelude.h"

class Projection {
 public:
  void Bind(Device d) {
    view_ = ViewOver(HostBytes(weight_), weight_.dtype, d, DimsOf(weight_));  // want VT001 q8_0_aligned
    view_.repacked = weight_.repacked;
    view_.elem_kn_repacked = weight_.elem_kn_repacked;
  }
  // ok
  void BindHost() {
    Ensure(!weight_.q8_0_aligned, "a CUDA layout on the CPU arm");
    view_ = ViewOver(HostBytes(weight_), weight_.dtype, Device::kCPU, DimsOf(weight_));
    view_.repacked = weight_.repacked;
    view_.elem_kn_repacked = weight_.elem_kn_repacked;
  }

 private:
  Weight weight_;
  View view_;
};
