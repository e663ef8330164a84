// Layer normalisation of rows in place, which also writes them as the next product wants them.
#pragma once

#include "simd.h"

constexpr float EPSILON = 1e-5f;  // torch.nn.LayerNorm's

struct Norm {
  const float *gain, *bias;  // (d)
};

// x[m] ← (x[m] − mean) / sqrt(variance + ε)·gain + bias, and values[m] ← x[m] as activations of `scale`;
// x has d numbers a row, values `depth`.
template <class P>
void normalise(float* x, int rows, int d, const Norm& norm, typename P::Value* values, int depth, float scale) {
  const float share = 1.0f / d;
  for (int m = 0; m < rows; ++m, x += d, values += depth) {
    Floats total = {};
    for (int i = 0; i < d; i += LANES) total += load(x + i);
    const float mean = sum(total) * share;
    Floats squares = {};
    for (int i = 0; i < d; i += LANES) {
      const Floats centred = load(x + i) - mean;
      squares += centred * centred;
    }
    const float factor = 1.0f / std::sqrt(sum(squares) * share + EPSILON);
    for (int i = 0; i < d; i += LANES) {
      const Floats y = (load(x + i) - mean) * factor * load(norm.gain + i) + load(norm.bias + i);
      store(x + i, y);
      P::store(values + i, y, scale);
    }
  }
}

// values[m] ← x[m] as activations of another scale.
template <class P>
void convert(const float* x, int rows, int d, typename P::Value* values, int depth, float scale) {
  for (int m = 0; m < rows; ++m, x += d, values += depth)
    for (int i = 0; i < d; i += LANES) P::store(values + i, load(x + i), scale);
}
