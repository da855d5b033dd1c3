// An embedding gather takes rows where the plain layout has them.
#include "prelude.h"

void Embed(float* out, const Weight& table, const int32_t* ids, int64_t count) {
  // want VT007 repacked q8_0_aligned elem_kn_repacked
  GatherRows(table.bytes.data(), ids, count, RowBytes(table.dtype, table.shape[1]), out);
}

void EmbedView(float* out, const View& table, const int32_t* ids, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const auto* row = static_cast<const uint8_t*>(table.data) + ids[i] * RowBytes(table.dtype, table.shape[1]);
    // want VT007 repacked q8_0_aligned elem_kn_repacked
    DecodeRows(row, table.dtype, table.shape[1], out + i * table.shape[1]);
  }
}

// ok
void EmbedPlain(float* out, const View& table, const int32_t* ids, int64_t count) {
  if (table.repacked || table.q8_0_aligned || table.elem_kn_repacked) Fail("a plain table");
  for (int64_t i = 0; i < count; ++i) {
    const auto* row = static_cast<const uint8_t*>(table.data) + ids[i] * RowBytes(table.dtype, table.shape[1]);
    DecodeRows(row, table.dtype, table.shape[1], out + i * table.shape[1]);
  }
}
