// A read-back gives rewritten bytes to somebody who expects plain ones.
#include "prelude.h"

void SetBytes(Weight& w, const uint8_t* src, size_t size) {
  w.bytes.assign(src, src + size);
  InterleaveRows(w.bytes.data(), w.shape[0], w.shape[1]);
  w.repacked = true;
  w.q8_0_aligned = w.elem_kn_repacked = false;
}

void GetBytes(const Weight& w, uint8_t* dst, size_t size) {
  std::memcpy(dst, w.bytes.data(), size);  // want VT007 repacked q8_0_aligned elem_kn_repacked
}

std::vector<uint8_t> Bytes(const Weight& w) {
  // todo-want VT007 repacked q8_0_aligned elem_kn_repacked
  return std::vector<uint8_t>(w.bytes.begin(), w.bytes.end());
}
