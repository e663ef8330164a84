// Rotary positions (Su et al. 2021, RoFormer §3.2).  The numbers c and c + half of a head are rotated together by an
// angle proportional to the token's position; it grows faster for smaller c.
#pragma once

#include <cmath>

#include "buffer.h"

struct Rotary {
  const float* frequencies = nullptr;  // (half) angle for each position; null: no rotary positions
  int half = 0;
  float factor = 1;  // multiplies queries and keys

  explicit operator bool() const { return frequencies; }
};

// Cosines and sines of the angles of some tokens, shared by all layers and heads.
class Turns {
 public:
  // position(i): position of each of `count` tokens.
  template <class Position>
  void start(const Rotary& rotary, int count, Position position) {
    half_ = rotary.half;
    float* to = numbers_.room(static_cast<size_t>(count) * 2 * half_);
    for (int i = 0; i < count; ++i, to += 2 * half_)
      for (int c = 0; c < half_; ++c) {
        const float angle = static_cast<float>(position(i)) * rotary.frequencies[c];
        to[c] = std::cos(angle) * rotary.factor, to[half_ + c] = std::sin(angle) * rotary.factor;
      }
  }

  // Rotate the heads of token i, which are contiguous, in place.
  void apply(int i, float* heads, int count) const {
    const float *cosine = numbers_.data() + static_cast<size_t>(i) * 2 * half_, *sine = cosine + half_;
    for (int h = 0; h < count; ++h, heads += 2 * half_)
      for (int c = 0; c < half_; ++c) {
        const float low = heads[c], high = heads[half_ + c];
        heads[c] = low * cosine[c] - high * sine[c], heads[half_ + c] = high * cosine[c] + low * sine[c];
      }
  }

 private:
  Buffer<float> numbers_;
  int half_ = 0;
};
