// Both producers look at the target.
#include "prelude.h"

struct Plan {
  bool interleave = false;
  bool transpose = false;
};

// ok: the host's answer is a parameter, so a test can set it
Plan Decide(bool keep_quantised, bool want_transpose, bool host_can, Device target) {
  Plan p;
  p.interleave = keep_quantised && host_can && target == Device::kCPU;
  p.transpose = want_transpose && target == Device::kCPU;
  return p;
}

// ok
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
