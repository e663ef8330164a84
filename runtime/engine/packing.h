// Packing of weights for products, in the order that `place` of each kind of numbers defines (product_*.h):
//
//     panel[k/g][n][k%g],  g the inputs of a Step,  n < 16·vectors (others: matrix_product.h, product_int8_neon.h),
//
// in consecutive panels of up to COLUMNS outputs; inputs and outputs are padded with zeros.
#pragma once

#include <algorithm>
#include <cstring>

#include "tiles.h"

// Put four bytes of each of LANES outputs into a panel of `width` outputs; `to` is the position of the first output and
// input.
template <class P>
void put(Floats quads, typename P::Weight* to, int width) {
  if constexpr (requires { P::put(quads, to, width); })
    P::put(quads, to, width);
  else
    store(reinterpret_cast<float*>(to), quads);
}

// Pack `inputs` weights of each output n, which are at row(n), into panels of `depth` inputs.  LANES × LANES elements
// of four bytes are transposed at a time, for every kind of numbers.
template <class P, class Row>
void pack(Row row, int outputs, int inputs, int depth, typename P::Weight* panels) {
  constexpr int QUAD = 4 / sizeof(typename P::Weight), INPUTS = LANES * QUAD;
  const int padded = round_up(outputs, VECTOR);
  for (int n = 0; n < padded; n += LANES) {
    const int first = n / COLUMNS * COLUMNS, width = std::min(COLUMNS, padded - first);
    typename P::Weight* panel = panels + static_cast<size_t>(first) * depth;
    for (int k = 0; k < depth; k += INPUTS) {
      const size_t bytes = std::clamp(inputs - k, 0, INPUTS) * sizeof(typename P::Weight);
      Floats tile[LANES] = {};
      for (int i = 0; i < LANES && n + i < outputs; ++i)
        if (bytes == sizeof(Floats)) [[likely]]
          std::memcpy(&tile[i], row(n + i) + k, sizeof(Floats));
        else
          std::memcpy(&tile[i], row(n + i) + k, bytes);
      transpose(tile);
      for (int i = 0; i < LANES; ++i) put<P>(tile[i], panel + P::place(k + i * QUAD, n - first, width), width);
    }
  }
}
