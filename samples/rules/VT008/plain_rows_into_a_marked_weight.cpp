// The undo asks the configuration where it should ask the weight.
#include "prelude.h"

struct Config {
  bool fast;
  bool fast_routed;
};

void Pack(Weight& w, const Config& c) {
  if (c.fast || c.fast_routed) {
    InterleaveRows(w.bytes.data(), w.shape[0], w.shape[1]);
    w.repacked = true;
  }
}

void Unpack(Weight& w, const Config& c) {
  if (c.fast_routed) {
    DeinterleaveRows(w.bytes.data(), w.shape[0], w.shape[1]);
    w.repacked = false;
  }
}

void CopyRows(Weight& w, const Config& c, const uint8_t* src, size_t offset, size_t size) {
  Unpack(w, c);
  // want VT008 repacked may VT008 q8_0_aligned elem_kn_repacked
  std::memcpy(w.bytes.data() + offset, src, size);
}
