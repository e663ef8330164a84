// A linear map y = W·x + b: its packed weights, and the product with what becomes of every output fused to it.
#pragma once

#include <algorithm>
#include <vector>

#include "product_float.h"
#include "product_int8.h"

// P is Int8 or Float32.  A row of activations has `depth` numbers, inputs padded to DEPTH_STEP.
//
// With Int8, y = sum·step + bias, where step = 1 / (activation scale · weight scale) of each output and
// sum is of codes; with Float32, step is 1.
template <class P>
class Linear {
 public:
  using Value = typename P::Value;
  using Weight = typename P::Weight;

  Linear() = default;

  // weights: (outputs, inputs) row by row; step, bias: (outputs).  scale: of the activations.
  Linear(const Weight* weights, int outputs, int inputs, const float* step, const float* bias, float scale)
      : scale(scale) {
    shape(outputs, inputs);
    for (int n = 0; n < outputs; ++n) column(n, weights + static_cast<size_t>(n) * inputs, inputs, step[n], bias[n]);
  }

  // Some of another map's outputs, or all: those of `rows`, at rows × inputs of `weights`.
  void gather(const Weight* weights, int inputs, const float* step, const float* bias, const int32_t* correction,
              const std::vector<int32_t>& rows) {
    shape(static_cast<int>(rows.size()), inputs);
    for (int n = 0; n < outputs; ++n) {
      const int32_t row = rows[n];
      copy(n, weights + static_cast<size_t>(row) * inputs, inputs);
      step_.data()[n] = step[row];
      bias_.data()[n] = bias[row];
      correction_.data()[n] = correction[row];
    }
  }

  // For each output y[m][n]: emit(m, n, LANES of y beginning there), n in steps of LANES up to `padded`.
  // Padding columns are 0.
  template <class Emit>
  void operator()(const Value* a, int rows, Emit&& emit) const {
    alignas(64) typename P::Sum sums[BLOCK_ROWS * COLUMNS];
    for (int first = 0; first < padded; first += COLUMNS) {
      const int width = std::min(COLUMNS, padded - first);
      const Weight* panel = panels_.data() + static_cast<size_t>(first) * depth;
      for (int row = 0; row < rows; row += BLOCK_ROWS) {
        const int count = std::min(BLOCK_ROWS, rows - row);
        P::block(a + static_cast<size_t>(row) * depth, count, depth, panel, width, sums);
        for (int n = 0; n < width; n += LANES) {
          const Floats step = load(step_.data() + first + n), bias = load(bias_.data() + first + n);
          const Ints correction = load(correction_.data() + first + n);
          for (int m = 0; m < count; ++m)
            emit(row + m, first + n, finish(load(sums + m * COLUMNS + n), step, bias, correction));
        }
      }
    }
  }

  float& bias(int n) { return bias_.data()[n]; }

  int outputs = 0, padded = 0;  // columns, and with padding to VECTOR
  int depth = 0;                // inputs with padding
  float scale = 1;              // of the activations

 private:
  static Floats finish(Ints sum, Floats step, Floats bias, Ints correction) {
    return to_floats(sum - correction) * step + bias;
  }
  static Floats finish(Floats sum, Floats, Floats bias, Ints) { return sum + bias; }

  void shape(int columns, int inputs) {
    outputs = columns;
    padded = round_up(columns, VECTOR);
    depth = round_up(inputs, DEPTH_STEP);
    panels_.room(static_cast<size_t>(padded) * depth);
    step_.room(padded);
    bias_.room(padded);
    correction_.room(padded);
    for (int n = columns; n < padded; ++n) step_.data()[n] = bias_.data()[n] = 0, correction_.data()[n] = 0;
  }

  void column(int n, const Weight* weights, int inputs, float step, float bias) {
    copy(n, weights, inputs);
    step_.data()[n] = step;
    bias_.data()[n] = bias;
    correction_.data()[n] = correction(weights, inputs);
  }

  // One output's weights into its panel.
  void copy(int n, const Weight* weights, int inputs) {
    const int first = n / COLUMNS * COLUMNS, width = std::min(COLUMNS, padded - first);
    Weight* panel = panels_.data() + static_cast<size_t>(first) * depth;
    if constexpr (sizeof(Weight) == 1) {
      int32_t* quads = reinterpret_cast<int32_t*>(panel) + (n - first);
      int k = 0;
      for (; k + 4 <= inputs; k += 4, quads += width) std::memcpy(quads, weights + k, 4);
      for (; k < inputs; ++k) panel[P::place(k, n - first, width)] = weights[k];
    } else {
      for (int k = 0; k < inputs; ++k) panel[P::place(k, n - first, width)] = weights[k];
    }
  }

 public:
  // What the offset of the activations adds to an output's sum.
  static int32_t correction(const Weight* weights, int inputs) {
    if constexpr (sizeof(Weight) == 1) {
      int32_t total = 0;
      for (int k = 0; k < inputs; ++k) total += weights[k];
      return total * P::ZERO;
    }
    return 0;
  }

 private:
  Buffer<Weight> panels_;
  Buffer<float> step_, bias_;
  Buffer<int32_t> correction_;
};
