// A kernel takes its pointers as `__restrict__`, through a template that chooses its shape.
#include "prelude.h"

struct Block {
  uint16_t scale;
  int8_t quants[32];
};

template <typename Out, int kLanes>
void DotRows(Out* __restrict__ out, const uint8_t* __restrict__ weight, int64_t rows, int64_t row_bytes) {
  for (int64_t row = 0; row < rows; row += kLanes) {
    const Block* block = reinterpret_cast<const Block*>(weight + row * row_bytes);
    out[row] = static_cast<Out>(block->scale * block->quants[0]);
  }
}

template <typename Out>
void Launch(Out* out, const uint8_t* w, int64_t rows, int64_t row_bytes) {
  if (rows <= 16) {
    DotRows<Out, 8>(out, w, rows, row_bytes);
  } else {
    DotRows<Out, 16>(out, w, rows, row_bytes);
  }
}

void Gemv(float* out, const Weight& w) {
  Launch<float>(out, w.bytes.data(), w.shape[0], w.shape[1]);  // want VT007 repacked q8_0_aligned elem_kn_repacked
}

// ok
void Checked(float* out, const Weight& w) {
  Ensure(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "plain rows");
  Launch<float>(out, w.bytes.data(), w.shape[0], w.shape[1]);
}
