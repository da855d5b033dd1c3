// The wish is part of the key.
#include "prelude.h"

#include <map>
#include <string>

std::map<std::pair<std::string, bool>, std::vector<uint8_t>> packs;

// ok
View Packed(const std::string& name, const Weight& w, bool interleave) {
  Require(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "pack from plain");
  auto& b = packs[{name, interleave}];
  if (b.empty()) {
    b = w.bytes;
    if (interleave) InterleaveRows(b.data(), w.shape[0], w.shape[1]);
  }
  View t = ViewOver(b.data(), w.dtype, Device::kCPU, DimsOf(w));
  t.repacked = interleave;
  return t;
}
