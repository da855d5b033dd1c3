// A check in front of the table of kernels serves every kernel in it.
#include "prelude.h"

enum class OpCode { kGemv };
using GemvFn = void (*)(float*, const View&, const View&);
void RegisterOp(OpCode op, Device device, GemvFn fn);
GemvFn FindOp(OpCode op, Device device);

// ok: whatever comes here was looked at
void GemvOnCpu(float* out, const View& x, const View& w) {
  const auto* q = static_cast<const uint8_t*>(w.data);
  if (w.repacked) return;
  out[0] = q[0];
}

static const bool registered = (RegisterOp(OpCode::kGemv, Device::kCPU, &GemvOnCpu), true);

void Gemv(float* out, const View& x, const View& w, Device device) {
  SNIPPET_CHECK(!w.q8_0_aligned && !w.elem_kn_repacked, "no kernel of this op reads these");
  FindOp(OpCode::kGemv, device)(out, x, w);
}
