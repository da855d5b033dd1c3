// The marker travels; the function that knows how to write does not.
#include "prelude.h"

struct Parameter {
  Weight w;
  void (*write)(Weight&, const uint8_t*, size_t) = nullptr;
};

// ok
void Finish(Parameter& p) {
  Weight q = p.w;
  InterleaveRows(q.bytes.data(), q.shape[0], q.shape[1]);
  q.repacked = true;
  Parameter fresh;
  fresh.w = std::move(q);
  p = std::move(fresh);
}

void Update(Parameter& p, const uint8_t* src, size_t size) {
  if (p.write) p.write(p.w, src, size);  // want VT008 repacked q8_0_aligned elem_kn_repacked
}
