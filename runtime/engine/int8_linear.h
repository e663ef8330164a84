// A linear map of any model on int8 codes: y = activation(W·x + b), x and y in float32, W never anything but bytes.
//
// Each row of x is quantized by itself (127 / its largest magnitude), or by one scale known beforehand.
#pragma once

#include <cmath>
#include <vector>

#include "linear.h"

enum class Activation { none, relu, gelu, gelu_tanh, silu };

// erf(|x|) by Abramowitz & Stegun 7.1.26, to 1.5·10⁻⁷, with the sign of x.
inline Floats error_function(Floats x) {
  const Floats size = magnitude(x), t = 1.0f / (1.0f + 0.3275911f * size);
  Floats y = all(1.061405429f);
  for (float c : {-1.453152027f, 1.421413741f, -0.284496736f, 0.254829592f}) y = y * t + c;
  y = 1.0f - y * t * exponential(-size * size);
  return x < Floats{} ? -y : y;
}

inline Floats activated(Floats x, Activation kind) {
  switch (kind) {
    case Activation::relu:
      return maximum(x, Floats{});
    case Activation::gelu:
      return 0.5f * x * (1.0f + error_function(x * 0.707106781186547524f));
    case Activation::gelu_tanh:  // ½·x·(1 + tanh z) = x·sigmoid(2·z)
      return x * sigmoid(1.5957691216057308f * (x + 0.044715f * x * x * x));
    case Activation::silu:
      return x * sigmoid(x);
    default:
      return x;
  }
}

class Int8Linear {
 public:
  // codes: (outputs, inputs) row by row, w = code·step of its row.
  Int8Linear(const int8_t* codes, int outputs, int inputs, const float* step) : inputs(inputs) {
    const std::vector<float> zeros(outputs);
    linear_ = Linear<Int8>(codes, outputs, inputs, step, zeros.data(), 1);
    std::copy(step, step + outputs, step_.room(linear_.padded));
  }

  // bias: (outputs) or null.  scale: of all activations; 0: each row has its own.  y: (rows, padded()).
  void operator()(const float* x, int rows, const float* bias, float scale, Activation kind, float* y) const {
    static thread_local Buffer<Int8::Value> values_room;
    static thread_local Buffer<float> steps_room, bias_room;
    const int depth = linear_.depth, width = padded();
    Int8::Value* values = values_room.room(static_cast<size_t>(rows) * depth);
    float *steps = steps_room.room(rows), *offsets = bias_room.room(width);
    if (bias) std::copy(bias, bias + outputs(), offsets);
    else std::fill(offsets, offsets + outputs(), 0.0f);
    for (int m = 0; m < rows; ++m)
      steps[m] = quantize(x + static_cast<size_t>(m) * inputs, values + static_cast<size_t>(m) * depth, scale);
    linear_(values, rows, [=](int m, int n, Floats sum) INLINE {
      store(y + static_cast<size_t>(m) * width + n, activated(sum * steps[m] + load(offsets + n), kind));
    });
  }

  // The weights of one output: code·step.
  void row(int n, float* to) const {
    const float step = step_.data()[n];
    linear_.weights(n, inputs, [=](int k, int8_t code) { to[k] = code * step; });
  }

  int outputs() const { return linear_.outputs; }
  int padded() const { return linear_.padded; }

  int inputs;

 private:
  // A row as codes; returns what one of them stands for.
  float quantize(const float* x, Int8::Value* codes, float scale) const {
    const int whole = inputs / LANES * LANES;
    if (!scale) {
      Floats most = {};
      for (int k = 0; k < whole; k += LANES) most = maximum(most, magnitude(load(x + k)));
      float peak = largest(most);
      for (int k = whole; k < inputs; ++k) peak = std::fmax(peak, std::fabs(x[k]));
      scale = peak > 0 ? 127 / peak : 1;
    }
    for (int k = 0; k < whole; k += LANES) Int8::store(codes + k, load(x + k), scale);
    if (whole < inputs) {
      float rest[LANES] = {};
      std::copy(x + whole, x + inputs, rest);
      Int8::store(codes + whole, load(rest), scale);
    }
    return 1 / scale;
  }

  Linear<Int8> linear_;
  Buffer<float> step_;
};
