// Weights laid out for products, in the order of the `place` of each kind of numbers (product_*.h):
//
//     panel[k/g][n][k%g],  g the numbers in four bytes,  n < 16·vectors,
//
// panels of up to COLUMNS outputs one after the other, inputs and outputs padded with zeros.
#pragma once

#include <algorithm>
#include <cstring>

#include "product_int8.h"
#include "simd.h"

// The weights of each output n, `inputs` of them at row(n), into panels of `depth` inputs.  What instructions multiply
// at once are four bytes, whatever the numbers: LANES × LANES of these are transposed together.
template <class Weight, class Row>
void pack(Row row, int outputs, int inputs, int depth, Weight* panels) {
  constexpr int STEP = LANES * 4 / sizeof(Weight);  // inputs
  const int padded = round_up(outputs, VECTOR);
  for (int n = 0; n < padded; n += LANES) {
    const int first = n / COLUMNS * COLUMNS, width = std::min(COLUMNS, padded - first);
    float* to = reinterpret_cast<float*>(panels + static_cast<size_t>(first) * depth) + (n - first);
    for (int k = 0; k < depth; k += STEP, to += LANES * width) {
      const size_t bytes = std::clamp(inputs - k, 0, STEP) * sizeof(Weight);
      const auto weights = [&](int i) {
        Floats some = {};
        if (n + i >= outputs) return some;
        if (bytes == sizeof(Floats)) [[likely]]
          std::memcpy(&some, row(n + i) + k, sizeof(Floats));
        else
          std::memcpy(&some, row(n + i) + k, bytes);
        return some;
      };
      store_transposed(weights, to, width);
    }
  }
}
