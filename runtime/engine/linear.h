// A linear map y = W·x + b with packed weights; the caller's epilogue is fused with the product.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "buffer.h"
#include "packing.h"
#include "product_bfloat16.h"
#include "product_float.h"
#include "product_int8.h"
#include "product_int8_avx2.h"
#include "product_int8_neon.h"
#include "product_int8_portable.h"

// P is Int8, Bfloat16 or Float32.  A row of activations has `depth` numbers: the inputs, padded to DEPTH_STEP.
//
// Int8: y = sum·step + bias, where the sum is of codes and step = 1 / (activation scale · weight scale) of each output.
// The other kinds begin the sum with the bias.
template <class P>
class Linear {
 public:
  using Value = typename P::Value;
  using Weight = typename P::Weight;

  Linear() = default;

  // weights: (outputs, inputs), row by row.  step, bias: (outputs).  scale: of the activations.
  Linear(const Weight* weights, int outputs, int inputs, const float* step, const float* bias, float scale)
      : scale(scale) {
    shape(outputs, inputs);
    const auto row = [=](int n) { return weights + static_cast<size_t>(n) * inputs; };
    pack<P>(row, outputs, inputs, depth, panels_.data());
    for (int n = 0; n < outputs; ++n) constants(n, step[n], bias[n], sum(row(n), inputs));
  }

  // Take the outputs `rows` of another map, whose weights have rows of `inputs` numbers; sums: of each output's
  // weights.  Padding columns return −∞ from then on, so that none is ever the largest.
  void gather(const Weight* weights, int inputs, const float* step, const float* bias, const int32_t* sums,
              const std::vector<int32_t>& rows) {
    shape(static_cast<int>(rows.size()), inputs);
    pack<P>([&](int n) { return weights + static_cast<size_t>(rows[n]) * inputs; }, outputs, inputs, depth,
            panels_.data());
    for (int n = 0; n < outputs; ++n) constants(n, step[rows[n]], bias[rows[n]], sums[rows[n]]);
    for (int n = outputs; n < padded; ++n) constants(n, 0, -INFINITY, 0);
  }

  // Call emit(m, n, LANES of y[m] from n on) for all rows m, and for n in steps of LANES up to `padded`.  Padding
  // columns are 0, except after `gather`.
  template <class Emit>
  void operator()(const Value* a, int rows, Emit emit) const {
    const float *step = step_.data(), *bias = bias_.data();
    P::multiply(a, rows, depth, panels_.data(), padded, start_.data(), [=](int n) INLINE {
      const auto finish = P::finish(step + n, bias + n);
      return [=](int m, auto sum) INLINE { emit(m, n, finish(sum)); };
    });
  }

  // Call visit(k, w[n][k]) for all inputs of one output.
  template <class Visit>
  void weights(int n, int inputs, Visit visit) const {
    const int first = n / COLUMNS * COLUMNS, width = std::min(COLUMNS, padded - first);
    const Weight* panel = panels_.data() + static_cast<size_t>(first) * depth;
    for (int k = 0; k < inputs; ++k) visit(k, panel[P::place(k, n - first, width)]);
  }

  // Change the unit of the outputs: y·factor from now on.
  void rescale(float factor) {
    if constexpr (sizeof(Weight) == 1)
      for (int n = 0; n < outputs; ++n) step_.data()[n] *= factor, bias_.data()[n] *= factor;
  }

  // Make output n −∞, and restore it.
  void forbid(int n) {
    before_ = bias_of(n);
    bias_of(n) = -INFINITY;
  }
  void allow(int n) { bias_of(n) = before_; }

  // Return Σₖ w[k], which corrects for the offset of the activations.
  static int32_t sum(const Weight* weights, int inputs) {
    int32_t total = 0;
    if constexpr (sizeof(Weight) == 1)
      for (int k = 0; k < inputs; ++k) total += weights[k];
    return total;
  }

  int outputs = 0, padded = 0;  // columns, and columns with padding to VECTOR
  int depth = 0;                // inputs with padding
  float scale = 1;              // of the activations

 private:
  void shape(int columns, int inputs) {
    outputs = columns;
    padded = round_up(columns, VECTOR);
    depth = round_up(inputs, DEPTH_STEP);
    panels_.room(static_cast<size_t>(padded) * depth);
    step_.room(padded);
    bias_.room(padded);
    start_.room(padded);
    for (int n = columns; n < padded; ++n) constants(n, 0, 0, 0);
  }

  void constants(int n, float step, float bias, int32_t sum) {
    step_.data()[n] = step;
    bias_.data()[n] = bias;
    start_.data()[n] = P::start(bias, sum);
  }

  float& bias_of(int n) {
    if constexpr (sizeof(Weight) == 1)
      return bias_.data()[n];
    else
      return start_.data()[n];
  }

  Buffer<Weight> panels_;
  Buffer<float> step_, bias_;
  Buffer<typename P::Sum> start_;
  float before_ = 0;
};
