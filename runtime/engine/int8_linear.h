// A linear map on 8-bit weights, for any model.  Each output has a step: w = code·step.
#pragma once

#include <vector>

#include "coded_linear.h"
#include "linear.h"

class Int8Linear : public CodedLinear {
 public:
  // codes: (outputs, inputs), row by row.  step: (outputs).
  Int8Linear(const int8_t* codes, int outputs, int inputs, const float* step) : CodedLinear(outputs, inputs) {
    const std::vector<float> zeros(outputs);
    linear_ = Linear<Int8>(codes, outputs, inputs, step, zeros.data(), 1);
    std::copy(step, step + outputs, step_.room(linear_.padded));
  }

  void operator()(const float* x, int rows, const float* bias, float scale, Activation kind, float* y) const override {
    static thread_local Buffer<Int8::Value> values_room;
    static thread_local Buffer<float> steps_room;
    const int depth = linear_.depth, width = padded();
    Int8::Value* values = values_room.room(static_cast<size_t>(rows) * depth);
    float* steps = steps_room.room(rows);
    const float* offsets = padded_bias(bias);
    for (int m = 0; m < rows; ++m) {
      const float* from = x + static_cast<size_t>(m) * inputs;
      const float own = scale ? scale : scale_of(from);
      in_lanes(from, [&](int k, Floats numbers) { Int8::store(values + static_cast<size_t>(m) * depth + k, numbers, own); });
      steps[m] = 1 / own;
    }
    linear_(values, rows, [=](int m, int n, Floats sum) INLINE {
      store(y + static_cast<size_t>(m) * width + n, activated(sum * steps[m] + load(offsets + n), kind));
    });
  }

  void row(int n, float* to) const override {
    const float step = step_.data()[n];
    linear_.weights(n, inputs, [=](int k, int8_t code) { to[k] = code * step; });
  }

 private:
  Linear<Int8> linear_;
  Buffer<float> step_;
};
