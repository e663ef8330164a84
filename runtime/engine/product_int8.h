// Products of unsigned 8-bit activations with signed 8-bit weights: y[m][n] = Σₖ (a[m][k] − 128)·w[n][k].
//
// Activation codes −127…127 are stored with 128 added, because the instructions multiply unsigned by signed bytes;
// 128·Σₖ w[n][k] is subtracted again.  Weights are stored in panels of up to COLUMNS outputs, four inputs side by side
// (panels of the matrix unit: matrix_product.h):
//
//     panel[k/4][n][k%4],  n < 16·vectors,  inputs padded with zeros to a multiple of DEPTH_STEP.
#pragma once

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)

#include "matrix_product.h"

struct ByteStep {
  static constexpr int DEPTH = 4, ROWS = 6;
  static Ints row(const uint8_t* a) { return all_four_bytes(a); }
  static Ints columns(const int8_t* w) { return load(reinterpret_cast<const int32_t*>(w)); }
  static Ints add(Ints sum, Ints a, Ints w) {
#ifdef __AVX512VNNI__
    return (Ints)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)a, (__m512i)w);
#else
    return (Ints)_mm256_dpbusd_avx_epi32((__m256i)sum, (__m256i)a, (__m256i)w);
#endif
  }
};

struct Int8 : Products<ByteStep> {
  using Value = uint8_t;
  using Weight = int8_t;
  using Positive = Int8;
  using Sum = int32_t;
  using Kept = Word;

  // The code of activation 0.
  static constexpr uint8_t ZERO = 128;

  // Store activation codes: x·scale rounded and clipped to −127…127, with 128 added.
  static void store(uint8_t* to, Floats x, float scale) {
    store_codes(to, maximum(to_nearest(x * scale), all(-127)));  // saturation clips to 127
  }

  // The same for ReLU(x), x in units of a code.
  static void store_positive(uint8_t* to, Floats x) { store_codes(to, to_nearest(maximum(x, Floats{}))); }

  // First summand and epilogue of a product: y = (Σₖ a·w − 128·Σₖ w)·step + bias.
  static int32_t start(float, int32_t weights) { return -ZERO * weights; }
  static auto finish(const float* step, const float* bias) {
    return [step = ::load(step), bias = ::load(bias)](Ints sum) INLINE { return to_floats(sum) * step + bias; };
  }
};

#endif
