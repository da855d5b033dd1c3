// A fourth layout arrives in the carriers and nobody has told the tool.
#include "prelude.h"

struct SwizzledView {
  void* data = nullptr;
  DType dtype = DType::kF32;
  int64_t shape[kMaxRank] = {0, 0, 0, 0};
  bool repacked = false;
  bool q8_0_aligned = false;
  bool elem_kn_repacked = false;
  bool q4_k_swizzled = false;  // want VT010 q4_k_swizzled
};

struct SwizzledWeight {
  std::vector<uint8_t> bytes;
  DType dtype = DType::kF32;
  bool repacked = false;
  bool q8_0_aligned = false;
  bool elem_kn_repacked = false;
  bool q4_k_swizzled = false;
};
