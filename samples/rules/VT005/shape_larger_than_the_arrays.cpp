// A rank beyond the arrays writes into the marker behind them.
#include "prelude.h"

View Unbounded(void* data, const Dims& dims) {
  View v;
  v.data = data;
  v.rank = static_cast<int>(dims.size());
  int64_t step = 1;
  for (int i = v.rank - 1; i >= 0; --i) {
    v.shape[i] = dims[static_cast<size_t>(i)];
    v.stride[i] = step;  // want VT005 repacked
    step *= v.shape[i];
  }
  return v;
}

// ok
View Bounded(void* data, const Dims& dims) {
  Ensure(dims.size() <= static_cast<size_t>(kMaxRank), "rank");
  View v;
  v.data = data;
  v.rank = static_cast<int>(dims.size());
  for (int i = 0; i < v.rank; ++i) v.shape[i] = dims[static_cast<size_t>(i)];
  return v;
}
