// Layer normalisation of rows in place, which also writes the activations for the next product.
#pragma once

#include "parts.h"
#include "simd.h"

constexpr float EPSILON = 1e-5f;  // torch.nn.LayerNorm's

// Sum term(i) over a row of d numbers, LANES at a time.  There are four sums, because an addition takes several cycles.
template <class Term>
inline float sum_of_row(int d, Term term) {
  Floats total[4] = {};
  int i = 0;
  for (; i + 4 * LANES <= d; i += 4 * LANES)
    for (int p = 0; p < 4; ++p) total[p] += term(i + p * LANES);
  for (; i < d; i += LANES) total[0] += term(i);
  return sum((total[0] + total[1]) + (total[2] + total[3]));
}

// x[m] ← (x[m] − mean) / sqrt(variance + ε)·gain + bias, and values[m] ← x[m] as activations of `scale`.  Rows of x
// have d numbers, rows of values `depth`.
template <class P>
void normalise(float* x, int rows, int d, const Norm& norm, typename P::Value* values, int depth, float scale) {
  const float share = 1.0f / d, *gain = norm.gain, *bias = norm.bias;
  for (int m = 0; m < rows; ++m, x += d, values += depth) {
    const float mean = sum_of_row(d, [=](int i) { return load(x + i); }) * share;
    const float squares = sum_of_row(d, [=](int i) {
      const Floats centred = load(x + i) - mean;
      return centred * centred;
    });
    const float factor = 1.0f / std::sqrt(squares * share + EPSILON);
    for (int i = 0; i < d; i += LANES) {
      const Floats y = (load(x + i) - mean) * factor * load(gain + i) + load(bias + i);
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
