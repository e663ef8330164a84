// Products in float32: y[m][n] = Σₖ a[m][k]·w[n][k].  Weights lie in panels of up to COLUMNS outputs:
//
//     panel[k][n],  n < 16·vectors.
#pragma once

#include "product_int8.h"

struct Float32 {
  using Value = float;
  using Weight = float;
  using Sum = float;

  static void store(float* to, Floats x, float) { ::store(to, x); }
  static void store_positive(float* to, Floats x) { ::store(to, maximum(x, Floats{})); }

  static float start(float bias, float) { return bias; }
  static auto finish(const float*, const float*) {
    return [](Floats sum) INLINE { return sum; };
  }

  static size_t place(int k, int n, int width) { return static_cast<size_t>(k) * width + n; }

  template <class Column>
  INLINE static void multiply(const float* a, int rows, int depth, const float* panel, int width, const float* start,
                       Column column) {
    ::multiply<FloatStep>(a, rows, depth, panel, width, start, column);
  }
  static void release() {}
};
