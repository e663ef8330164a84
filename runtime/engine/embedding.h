// Embeddings of pieces: scaled rows of the embedding table plus positional encodings.
#pragma once

#include <cmath>
#include <cstring>

#include "simd.h"

constexpr int START = -1;  // stands for the decoder's first input, whose embedding is zero

// The embedding table; the embedding of a piece is row·√d / scale.
template <class P>
struct Embedding {
  const typename P::Weight* rows = nullptr;  // (vocabulary, d)
  const float* scale = nullptr;              // (vocabulary)
  const float* positions = nullptr;          // (positions, d)
  int vocabulary = 0, d = 0;

  // to[0…d) ← the embedding of a piece at a position.
  void write(int32_t piece, int position, float* to) const {
    const float* at = positions + static_cast<size_t>(position) * d;
    if (piece == START) {
      std::memcpy(to, at, sizeof(float) * d);
      return;
    }
    const typename P::Weight* row = rows + static_cast<size_t>(piece) * d;
    const float factor = std::sqrt(static_cast<float>(d)) / scale[piece];
    for (int i = 0; i < d; i += LANES) store(to + i, widen(row + i) * factor + load(at + i));
  }

 private:
  static Floats widen(const float* from) { return load(from); }
  static Floats widen(const int16_t* bfloat16) {
    Ints bits;
    for (int lane = 0; lane < LANES; ++lane) bits[lane] = bfloat16[lane] << 16;
    return (Floats)bits;
  }
  static Floats widen(const int8_t* from) {
    Ints wide;
    for (int lane = 0; lane < LANES; ++lane) wide[lane] = from[lane];
    return to_floats(wide);
  }
};
