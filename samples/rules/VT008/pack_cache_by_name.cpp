// A hit pairs the bytes of an earlier wish with the wish of today.
#include "prelude.h"

#include <map>
#include <string>

std::map<std::string, std::vector<uint8_t>> packs;

View Packed(const std::string& name, const Weight& w, bool interleave) {
  Require(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "pack from plain");
  auto& b = packs[name];
  if (b.empty()) {
    b = w.bytes;
    if (interleave) InterleaveRows(b.data(), w.shape[0], w.shape[1]);
  }
  View t = ViewOver(b.data(), w.dtype, Device::kCPU, DimsOf(w));  // want VT008 repacked
  t.repacked = interleave;
  return t;
}
