// Products in float32: y[m][n] = Σₖ a[m][k]·w[n][k].  Weights lie in panels of up to COLUMNS outputs:
//
//     panel[k][n],  n < 16·vectors.
#pragma once

#include "product_int8.h"

struct Float32 {
  using Value = float;
  using Weight = float;
  using Sum = float;

  static constexpr float ZERO = 0.0f;

  static void store(float* to, Floats x, float) { ::store(to, x); }

  static size_t place(int k, int n, int width) { return static_cast<size_t>(k) * width + n; }

  static void block(const float* a, int rows, int depth, const float* panel, int width, float* sums);
  static void release() {}
};
