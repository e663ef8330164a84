// Rotary positions (Su et al. 2021, RoFormer §3.2): of a head's numbers, c and c + half turn together, by an angle that
// grows with the token's position, the sooner the smaller c is.
#pragma once

#include <cmath>

#include "buffer.h"

struct Rotary {
  const float* frequencies = nullptr;  // (half) angles of one position; null: positions are not told so
  int half = 0;
  float factor = 1;  // of queries and of keys

  explicit operator bool() const { return frequencies; }
};

// Cosines and sines of some tokens' angles, which all layers and heads of these tokens share.
class Turns {
 public:
  // position(i) of each of `count` tokens.
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

  // Turns the heads of token i, which lie side by side, in place.
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
