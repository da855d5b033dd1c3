// A view for CUDA that carries what only the CPU reads.
#include "prelude.h"

View CudaView(const Weight& w) {
  // want VT002 repacked elem_kn_repacked
  View t = ViewOver(w.d_dev.get(), w.dtype, Device::kCUDA, DimsOf(w));
  t.repacked = w.repacked;
  t.elem_kn_repacked = w.elem_kn_repacked;
  t.q8_0_aligned = w.q8_0_aligned;
  return t;
}
