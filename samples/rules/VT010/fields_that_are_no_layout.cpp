// Booleans of a carrier that say nothing about its bytes' order.
#include "prelude.h"

// ok
struct CountedView {
  void* data = nullptr;
  DType dtype = DType::kF32;
  bool repacked = false;
  bool q8_0_aligned = false;
  bool elem_kn_repacked = false;
  bool host_released = false;
  mutable bool streamed = false;
  int uses = 0;
};

// ok: no storage, no carrier
struct Options {
  bool repacked = false;
  bool tiles_swizzled = false;
};
