// The file format has no place for a marker.
#include "prelude.h"

struct Blob {
  DType dtype;
  Dims dims;
  std::vector<uint8_t> data;
};

Blob Save(const Weight& w) {
  Require(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "plain bytes only");
  return Blob{w.dtype, {w.shape[0], w.shape[1]}, w.bytes};
}

Blob SavePlain(const Weight& w) {
  Require(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "export needs plain bytes");
  return Blob{w.dtype, {w.shape[0], w.shape[1]}, w.bytes};
}

Weight Load(const Blob& blob) {
  Weight w;
  w.dtype = blob.dtype;
  w.rank = 2;
  w.shape[0] = blob.dims[0];
  w.shape[1] = blob.dims[1];
  w.bytes = blob.data;
  return w;
}
