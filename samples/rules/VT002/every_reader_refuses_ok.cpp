// The producer leaves the towers alone.
#include "prelude.h"

enum class Role { kDense, kTower };

// ok
void Load(Weight& w, Role role) {
  if (role == Role::kDense && HostHasInt8Mma() && w.dtype == DType::kQ8_0) {
    InterleaveRows(w.bytes.data(), w.shape[0], w.shape[1]);
    w.repacked = true;
  }
}
