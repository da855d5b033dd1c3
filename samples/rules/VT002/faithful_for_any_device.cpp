// A helper that cannot know the device carries everything; its callers and the kernels decide.
#include "prelude.h"

// ok
View Faithful(const Weight& w, void* p, Device d) {
  View t = ViewOver(p, w.dtype, d, DimsOf(w));
  t.repacked = w.repacked;
  t.q8_0_aligned = w.q8_0_aligned;
  t.elem_kn_repacked = w.elem_kn_repacked;
  return t;
}

// ok
Weight Borrowed(const View& v) {
  Weight w;
  w.borrowed = static_cast<const uint8_t*>(v.data);
  w.repacked = v.repacked;
  w.q8_0_aligned = v.q8_0_aligned;
  w.elem_kn_repacked = v.elem_kn_repacked;
  return w;
}
