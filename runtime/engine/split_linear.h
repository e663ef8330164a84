// A float32 linear map computed with the matrix unit's byte products (Ootomo, Ozaki & Yokota 2024).  Each number is
// split into three bytes of a whole number, and bytes are multiplied exactly:
//
//     x = (x₁ + x₂/2⁸ + x₃/2¹⁶)·step of its row,  w likewise with the step of its output,
//     Σ x·w = (Σ x₁w₁ + Σ (x₂w₁ + x₁w₂)/2⁸ + Σ (x₃w₁ + x₂w₂ + x₁w₃)/2¹⁶)·both steps.
//
// Each Σ is a 32-bit sum of whole numbers.  The omitted products are as small as the rounding of a row: 2⁻²⁴ of its
// largest number.  Rows of activations are stored as x₃, x₂, x₁ and rows of weights as w₁, w₂, w₃, so that each Σ is
// one product of the last bytes of the former with the first of the latter.
#pragma once

#ifdef MATRIX_UNIT

#include <vector>

#include "coded_linear.h"
#include "linear.h"

class SplitLinear {
 public:
  // weights: (outputs, inputs), row by row.
  SplitLinear(const float* weights, int outputs, int inputs)
      : inputs(inputs), outputs_(outputs), padded_(round_up(outputs, VECTOR)), depth_(round_up(inputs, DEPTH_STEP)) {
    const int depth = 3 * depth_;
    std::vector<uint8_t> codes(depth);
    std::vector<int8_t> rows(static_cast<size_t>(outputs) * depth);
    step_.room(padded_);
    for (auto& start : starts_) start.room(padded_);
    for (int n = 0; n < outputs; ++n) {
      step_.data()[n] = split(weights + static_cast<size_t>(n) * inputs, codes.data(), 0, 1);
      int8_t* row = rows.data() + static_cast<size_t>(n) * depth;
      int32_t sum = 0;
      for (int part = 0; part < 3; ++part) {
        for (int k = 0; k < inputs; ++k) sum += row[part * depth_ + k] = codes[part * depth_ + k] - Int8::ZERO;
        starts_[2 - part].data()[n] = Int8::start(0, sum);
      }
    }
    pack<Int8>([&](int n) { return rows.data() + static_cast<size_t>(n) * depth; }, outputs, depth, depth,
               panels_.room(static_cast<size_t>(padded_) * depth));
  }

  // bias: (outputs) or null.  y: (rows, padded()).
  void operator()(const float* x, int rows, const float* bias, Activation kind, float* y) const {
    static thread_local Buffer<uint8_t> codes_room;
    static thread_local Buffer<float> steps_room, bias_room;
    const int depth = 3 * depth_;
    uint8_t* codes = codes_room.room(static_cast<size_t>(rows) * depth);
    float *steps = steps_room.room(rows), *offsets = bias_room.room(padded_);
    if (bias) std::copy(bias, bias + outputs_, offsets);
    else std::fill(offsets, offsets + outputs_, 0.0f);
    for (int m = 0; m < rows; ++m)
      steps[m] = split(x + static_cast<size_t>(m) * inputs, codes + static_cast<size_t>(m) * depth, 2, -1);
    const auto part = [&](size_t skipped, int which) {
      return matrix_unit::Part<int32_t>{skipped * depth_, (3 - skipped) * depth_, starts_[which].data()};
    };
    matrix_unit::multiply(codes, rows, depth, panels_.data(), padded_, std::array{part(0, 0), part(1, 1), part(2, 2)},
                          [=, this](int n) INLINE {
      const Floats step = load(step_.data() + n), offset = load(offsets + n);
      return [=, width = padded_](int m, Ints third, Ints second, Ints first) INLINE {
        const Floats sum = to_floats(first) + to_floats(second) * 0x1p-8f + to_floats(third) * 0x1p-16f;
        store(y + static_cast<size_t>(m) * width + n, activated(sum * (step * steps[m]) + offset, kind));
      };
    });
  }

  int outputs() const { return outputs_; }
  int padded() const { return padded_; }

  int inputs;

 private:
  // Split a row into three rows of bytes, with 128 added to each; return the unit of the first bytes.  first: index of
  // the row of the first bytes; those of the others follow in `direction`.  Returns NaN if a number is NaN or infinite.
  float split(const float* x, uint8_t* codes, int first, int direction) const {
    const int whole = inputs / LANES * LANES;
    float rest[LANES] = {};
    std::copy(x + whole, x + inputs, rest);
    Floats most = magnitude(load(rest)), faults = load(rest) * 0;
    for (int k = 0; k < whole; k += LANES) {
      const Floats numbers = load(x + k);
      most = maximum(most, magnitude(numbers)), faults += numbers * 0;
    }
    const float peak = largest(most), scale = peak > LEAST ? 127 * 0x1p16f / peak : 1;
    uint8_t* to[3];
    for (int part = 0; part < 3; ++part) to[part] = codes + (first + direction * part) * depth_;
    const auto store = [&](int k, Floats numbers) INLINE {
      const __m512i bytes = (__m512i)(to_nearest(numbers * scale) + all(0x808080));  // carries round each byte
      for (int part = 0; part < 3; ++part)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to[part] + k),
                         _mm512_cvtepi32_epi8(_mm512_srli_epi32(bytes, 16 - 8 * part)));
    };
    for (int k = 0; k < whole; k += LANES) store(k, load(x + k));
    if (whole < inputs) store(whole, load(rest));
    return 0x1p16f / scale + sum(faults);
  }

  static constexpr float LEAST = 1e-30f;  // smallest magnitude of a row's largest number to divide by; less counts as 0

  int outputs_, padded_;
  int depth_;  // of each of the three
  Buffer<int8_t> panels_;
  Buffer<float> step_;
  Buffer<int32_t> starts_[3];  // of the sums of three, two and one products
};

#endif
