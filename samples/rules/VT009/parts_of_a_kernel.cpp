// What a kernel hands on without a look is read by its parts: told once, at the part that it calls first.
#include "prelude.h"

enum class OpCode { kGemv };
using GemvFn = void (*)(float*, const View&, const View&);
void RegisterOp(OpCode op, Device device, GemvFn fn);
GemvFn FindOp(OpCode op, Device device);

void Tail(float* out, const View& w, int64_t from) {
  const auto* q = static_cast<const uint8_t*>(w.data);
  out[from] = q[from];  // want VT007 q8_0_aligned elem_kn_repacked, may VT007 repacked
}

void Blocks(float* out, const View& w) {
  const auto* q = static_cast<const uint8_t*>(w.data);
  out[0] = q[0];  // want VT007 q8_0_aligned elem_kn_repacked, may VT007 repacked
}

// ok: the bytes have one layout, so these are not aligned
void Interleaved(float* out, const View& w) {
  SNIPPET_CHECK(w.repacked, "an interleaved weight");
  const auto* q = static_cast<const uint8_t*>(w.data);
  out[0] = q[0];
}

void GemvOnCpu(float* out, const View& x, const View& w) {
  if (w.repacked) {
    Interleaved(out, w);
    return;
  }
  Blocks(out, w);
  Tail(out, w, x.shape[0]);
}

static const bool registered = (RegisterOp(OpCode::kGemv, Device::kCPU, &GemvOnCpu), true);

void Gemv(float* out, const View& x, const View& w) { FindOp(OpCode::kGemv, w.device)(out, x, w); }

// ok: what the bytes really are is what its part is given
void Columns(float* out, const View& w) {
  const auto* q = static_cast<const uint8_t*>(w.data);
  out[0] = q[w.shape[0]];  // may VT007 repacked q8_0_aligned
}

void GemvOfColumns(float* out, const View& x, const View& w) {
  SNIPPET_CHECK(!w.repacked && !w.q8_0_aligned, "float weights");
  if (w.elem_kn_repacked) {
    View columns = w;
    columns.shape[0] = w.shape[1];
    columns.shape[1] = w.shape[0];
    Columns(out, columns);
    return;
  }
  out[0] = x.shape[0];
}
