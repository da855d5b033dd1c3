// The loader asks what the host can do and not where the weight will run; its sibling asks both.
#include "prelude.h"

struct Plan {
  bool interleave = false;
  bool transpose = false;
};

Plan Decide(bool keep_quantised, bool want_transpose, Device target) {
  Plan p;
  p.interleave = keep_quantised && HostHasInt8Mma();  // want VT002 repacked
  p.transpose = want_transpose && target == Device::kCPU;
  return p;
}

void Load(Weight& w, const Plan& p) {
  if (p.interleave) {
    InterleaveRows(w.bytes.data(), w.shape[0], w.shape[1]);
    w.repacked = true;
  }
  if (p.transpose) {
    TransposeToKN(w.bytes.data(), w.shape[0], w.shape[1], 4);
    w.elem_kn_repacked = true;
  }
}
