// The marker is part of the key.
#include "prelude.h"

#include <map>

struct Key {
  uint64_t tower;
  int expert;
  bool repacked;
  auto operator<=>(const Key&) const = default;
};
std::map<Key, std::vector<uint8_t>> cache;

// ok
View Cached(const Weight& tower, uint64_t id, int e, int64_t n, int64_t k) {
  Require(!tower.q8_0_aligned && !tower.elem_kn_repacked, "cannot be cut");
  Require(!tower.repacked || n % 4 == 0, "a group would be cut");
  auto& slot = cache[Key{id, e, tower.repacked}];
  if (slot.empty()) {
    const uint8_t* p = tower.bytes.data() + e * n * RowBytes(tower.dtype, k);
    slot.assign(p, p + n * RowBytes(tower.dtype, k));
  }
  View t = ViewOver(slot.data(), tower.dtype, Device::kCPU, {n, k});
  t.repacked = tower.repacked;
  return t;
}
