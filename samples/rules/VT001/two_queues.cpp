// A function with two queues: what is asked of the one says nothing about the other.
#include "prelude.h"

struct Stream {
  Device device = Device::kCPU;
};

void Forward(View& out, const View& x, const Weight& w, const Stream& fast, const Stream& host) {
  SNIPPET_CHECK(fast.device != Device::kCPU, "a device stream");
  SNIPPET_CHECK(host.device == Device::kCPU, "a host stream");
  View t = ViewOver(HostBytes(w), w.dtype, host.device, DimsOf(w));  // want VT001 repacked q8_0_aligned elem_kn_repacked
  CpuMatmul(out, x, t);
}

// ok
void Checked(View& out, const View& x, const Weight& w, const Stream& fast, const Stream& host) {
  SNIPPET_CHECK(fast.device != Device::kCPU, "a device stream");
  SNIPPET_CHECK(host.device == Device::kCPU, "a host stream");
  SNIPPET_CHECK(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "a plain weight");
  View t = ViewOver(HostBytes(w), w.dtype, host.device, DimsOf(w));
  CpuMatmul(out, x, t);
}
