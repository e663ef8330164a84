// Weights laid out for products, in the order of the `place` of each kind of numbers (product_*.h):
//
//     panel[k/g][n][k%g],  g the inputs of a Step,  n < 16·vectors (others: matrix_product.h, product_int8_neon.h),
//
// panels of up to COLUMNS outputs one after the other, inputs and outputs padded with zeros.
#pragma once

#include <algorithm>
#include <cstring>

#include "tiles.h"

// Four bytes of each of LANES outputs → a panel of `width` outputs, at the first of these and of their inputs.
template <class P>
void put(Floats quads, typename P::Weight* to, int width) {
  if constexpr (requires { P::put(quads, to, width); })
    P::put(quads, to, width);
  else
    store(reinterpret_cast<float*>(to), quads);
}

// The weights of each output n, `inputs` of them at row(n), into panels of `depth` inputs.  Whatever the numbers,
// LANES × LANES of four bytes are transposed together.
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
