// Products of 8-bit codes on any processor: y[m][n] = Σₖ a[m][k]·w[n][k].
//
// Activations are 16-bit numbers −127…127.  Weights are stored in panels of up to COLUMNS outputs, two inputs side by
// side, and are widened when they are loaded, once for all rows of a tile:
//
//     panel[k/2][n][k%2],  n < 16·vectors,  inputs padded with zeros to a multiple of DEPTH_STEP.
#pragma once

#if !defined(__AVX2__) && !defined(NEON)

#include "tiles.h"

struct WordStep {
  static constexpr int DEPTH = 2, ROWS = 4;
  static Ints row(const int16_t* a) { return all_four_bytes(a); }
  static Ints columns(const int8_t* w) {
    using Codes = int8_t __attribute__((vector_size(2 * LANES)));
    using Wide = int16_t __attribute__((vector_size(4 * LANES)));
    Codes codes;
    std::memcpy(&codes, w, sizeof codes);
    return (Ints)__builtin_convertvector(codes, Wide);
  }
  static Ints add(Ints sum, Ints a, Ints w) {
#ifdef __SSE2__
    return sum + (Ints)_mm_madd_epi16((__m128i)a, (__m128i)w);
#else
    return sum + (a << 16 >> 16) * (w << 16 >> 16) + (a >> 16) * (w >> 16);
#endif
  }
};

struct Int8 : ByTiles<WordStep> {
  using Value = int16_t;
  using Weight = int8_t;
  using Positive = Int8;
  using Sum = int32_t;
  using Kept = Word;

  // Store activation codes: x·scale rounded and clipped to −127…127.
  static void store(int16_t* to, Floats x, float scale) {
    store_words(to, to_nearest(minimum(maximum(x * scale, all(-127.0f)), all(127.0f))));
  }

  // The same for ReLU(x), x in units of a code.
  static void store_positive(int16_t* to, Floats x) { store(to, maximum(x, Floats{}), 1); }

  static int32_t start(float, int32_t) { return 0; }
  static auto finish(const float* step, const float* bias) {
    return [step = ::load(step), bias = ::load(bias)](Ints sum) INLINE { return to_floats(sum) * step + bias; };
  }

  // Put four inputs of each of LANES outputs into a panel: the first two, then the other two.
  static void put(Floats quads, int8_t* to, int width) {
    int8_t codes[LANES][4];
    std::memcpy(codes, &quads, sizeof codes);
    for (int n = 0; n < LANES; ++n)
      for (int i = 0; i < 4; ++i) to[(i / 2 * width + n) * 2 + i % 2] = codes[n][i];
  }
};

#endif
