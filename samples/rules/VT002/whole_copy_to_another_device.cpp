// A whole copy keeps every marker; then the device changes under them.
#include "prelude.h"

View ToCuda(const View& host, void* device_copy) {
  View t = host;
  t.device = Device::kCUDA;
  t.data = device_copy;  // want VT002 repacked elem_kn_repacked
  return t;
}

// ok
View ToCudaRefused(const View& host, void* device_copy) {
  Ensure(!host.repacked && !host.elem_kn_repacked, "a CPU-only transform");
  View t = host;
  t.device = Device::kCUDA;
  t.data = device_copy;
  return t;
}
