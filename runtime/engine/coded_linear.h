// A linear map on quantized weights, for any model: y = activation(W·x + b).  x and y are float32.
//
// Each row of x is quantized with its own scale (127 / its largest magnitude), or all rows with one scale known in
// advance.
#pragma once

#include <algorithm>
#include <cmath>

#include "buffer.h"
#include "tiles.h"

enum class Activation { none, relu, gelu, gelu_tanh, silu };

// erf(x) to 1.5·10⁻⁷ (Abramowitz & Stegun 7.1.26).
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

class CodedLinear {
 public:
  CodedLinear(int outputs, int inputs) : inputs(inputs), outputs_(outputs) {}
  virtual ~CodedLinear() = default;

  // bias: (outputs) or null.  scale: of all activations; 0: each row has its own.  y: (rows, padded()).
  virtual void operator()(const float* x, int rows, const float* bias, float scale, Activation kind,
                          float* y) const = 0;

  // Write the weights of output n.
  virtual void row(int n, float* to) const = 0;

  int outputs() const { return outputs_; }
  int padded() const { return round_up(outputs_, VECTOR); }

  int inputs;

 protected:
  // Return the scale that maps a row's largest magnitude to 127.
  float scale_of(const float* x) const {
    const int whole = inputs / LANES * LANES;
    Floats most = {};
    for (int k = 0; k < whole; k += LANES) most = maximum(most, magnitude(load(x + k)));
    float peak = largest(most);
    for (int k = whole; k < inputs; ++k) peak = std::fmax(peak, std::fabs(x[k]));
    return peak > 0 ? 127 / peak : 1;
  }

  // Return the biases, or zeros, padded with zeros; valid until this thread's next call.
  const float* padded_bias(const float* bias) const {
    static thread_local Buffer<float> room;
    float* to = room.room(padded());
    if (bias) std::copy(bias, bias + outputs_, to);
    else std::fill(to, to + outputs_, 0.0f);
    return to;
  }

  // Call put(k, LANES numbers of the row from k on); the last numbers are padded with zeros.
  template <class Put>
  void in_lanes(const float* x, Put put) const {
    const int whole = inputs / LANES * LANES;
    for (int k = 0; k < whole; k += LANES) put(k, load(x + k));
    if (whole == inputs) return;
    float rest[LANES] = {};
    std::copy(x + whole, x + inputs, rest);
    put(whole, load(rest));
  }

 private:
  int outputs_;
};
