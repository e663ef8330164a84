// The simpler simple recurrent unit (SSRU; Kim et al. 2019), which replaces self-attention in a decoder: one step of
// several rows, from the products of a layer's input x to its cells and its output.
//
//     f = σ(W_f x + b_f),  c ← f ⊙ c + (1 − f) ⊙ W x,  x ← x + ReLU(c)
#pragma once

#include "simd.h"

// gates: (rows, 2 · width), W x and then W_f x + b_f for each row.  cells, x: (rows, width), changed in place.
inline void recur(const float* gates, float* cells, float* x, int rows, int width) {
  for (int m = 0; m < rows; ++m, gates += 2 * width, cells += width, x += width)
    for (int i = 0; i < width; i += LANES) {
      const Floats candidate = load(gates + i), forget = sigmoid(load(gates + width + i));
      const Floats cell = candidate + forget * (load(cells + i) - candidate);
      store(cells + i, cell);
      store(x + i, load(x + i) + maximum(cell, Floats{}));
    }
}
