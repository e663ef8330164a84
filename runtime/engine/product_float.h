// Products in float32: y[m][n] = Σₖ a[m][k]·w[n][k].  Weights are stored in panels of up to COLUMNS outputs:
//
//     panel[k][n],  n < 16·vectors.
#pragma once

#include "tiles.h"

struct FloatStep {
  static constexpr int DEPTH = 1, ROWS = 6;
  static Floats row(const float* a) { return all(*a); }
  static Floats columns(const float* w) { return load(w); }
  static Floats add(Floats sum, Floats a, Floats w) { return sum + a * w; }
};

struct Float32 : ByTiles<FloatStep> {
  using Value = float;
  using Weight = float;
  using Positive = Float32;
  using Sum = float;
  using Kept = float;

  static void store(float* to, Floats x, float) { ::store(to, x); }
  static void store_positive(float* to, Floats x) { ::store(to, maximum(x, Floats{})); }

  static float start(float bias, float) { return bias; }
  static auto finish(const float*, const float*) {
    return [](Floats sum) INLINE { return sum; };
  }
};
