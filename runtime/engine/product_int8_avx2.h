// Products of 8-bit codes with AVX2, which cannot multiply all bytes exactly: y[m][n] = Σₖ a[m][k]·w[n][k].
//
// AVX2 multiplies unsigned by signed bytes, but adds two products in 16 bits.  Codes 0…127, which ReLU leaves, fit
// (2·127·127 < 2¹⁵), but codes 0…255 do not.  There are therefore two kinds of activations:
//
//     PositiveInt8   bytes 0…127,           panel[k/4][n][k%4]
//     Int8           16 bits, −127…127,     panel[k/2][n][k%2]: weights are widened when they are loaded, once
//                                           for all rows of a tile
//
// n < 16·vectors, inputs padded with zeros to a multiple of DEPTH_STEP.
#pragma once

#if defined(__AVX2__) && !defined(__AVX512VNNI__) && !defined(__AVXVNNI__)

#include "tiles.h"

struct WordStep {
  static constexpr int DEPTH = 2, ROWS = 4;
  static Ints row(const int16_t* a) { return all_four_bytes(a); }
  static Ints columns(const int8_t* w) {
    return (Ints)_mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w)));
  }
  static Ints add(Ints sum, Ints a, Ints w) { return sum + (Ints)_mm256_madd_epi16((__m256i)a, (__m256i)w); }
};

struct ByteStep {
  static constexpr int DEPTH = 4, ROWS = 4;
  static Ints row(const uint8_t* a) { return all_four_bytes(a); }
  static Ints columns(const int8_t* w) { return load(reinterpret_cast<const int32_t*>(w)); }
  static Ints add(Ints sum, Ints a, Ints w) {
    const __m256i pairs = _mm256_maddubs_epi16((__m256i)a, (__m256i)w);
    return sum + (Ints)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
  }
};

// Base of both kinds: y = Σₖ a·w·step + bias.
template <class Step>
struct Codes : ByTiles<Step> {
  using Weight = int8_t;
  using Sum = int32_t;
  using Kept = Word;

  static int32_t start(float, int32_t) { return 0; }
  static auto finish(const float* step, const float* bias) {
    return [step = ::load(step), bias = ::load(bias)](Ints sum) INLINE { return to_floats(sum) * step + bias; };
  }
};

struct PositiveInt8 : Codes<ByteStep> {
  using Value = uint8_t;

  // Store activation codes of ReLU(x), x in units of a code.
  static void store_positive(uint8_t* to, Floats x) {
    store_bytes(to, to_nearest(minimum(maximum(x, Floats{}), all(127.0f))));
  }
};

struct Int8 : Codes<WordStep> {
  using Value = int16_t;
  using Positive = PositiveInt8;

  // Store activation codes: x·scale rounded and clipped to −127…127.
  static void store(int16_t* to, Floats x, float scale) {
    store_words(to, to_nearest(minimum(maximum(x * scale, all(-127.0f)), all(127.0f))));
  }

  // Put four inputs of each of LANES outputs into a panel: the first two, then the other two.
  static void put(Floats quads, int8_t* to, int width) {
    const __m256i halves = _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15,  //
                                            0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
    const __m256i pairs = _mm256_permute4x64_epi64(_mm256_shuffle_epi8((__m256i)quads, halves), 0b11011000);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(pairs));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 2 * width), _mm256_extracti128_si256(pairs, 1));
  }
};

#endif
