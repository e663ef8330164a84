// Products of bfloat16 numbers with float32 sums: y[m][n] = Σₖ a[m][k]·w[n][k].  They take half the memory of float32
// and run twice as fast, with 8 bits of mantissa.  Weights are stored in panels of up to COLUMNS outputs, two inputs
// side by side (panels of the matrix unit: matrix_product.h):
//
//     panel[k/2][n][k%2],  n < 16·vectors.
#pragma once

#if defined(__AVX512BF16__) || (defined(NEON) && defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC))

#include "matrix_product.h"

struct PairStep {
  static constexpr int DEPTH = 2, ROWS = 6;
  static Ints row(const int16_t* a) { return all_four_bytes(a); }
  static Ints columns(const int16_t* w) { return load(reinterpret_cast<const int32_t*>(w)); }
  static Floats add(Floats sum, Ints a, Ints w) {
#ifdef NEON
    return (Floats)vbfdotq_f32((float32x4_t)sum, (bfloat16x8_t)a, (bfloat16x8_t)w);
#else
    return (Floats)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)w);
#endif
  }
};

struct Bfloat16 : Products<PairStep> {
  using Value = int16_t;  // the bits
  using Weight = int16_t;
  using Positive = Bfloat16;
  using Sum = float;
  using Kept = Word;

  static void store(int16_t* to, Floats x, float) {  // rounded to nearest
#ifdef NEON
    vst1_bf16(reinterpret_cast<bfloat16_t*>(to), vcvt_bf16_f32((float32x4_t)x));
#else
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), (__m256i)_mm512_cvtneps_pbh((__m512)x));
#endif
  }
  static void store_positive(int16_t* to, Floats x) { store(to, maximum(x, Floats{}), 1); }

  static float start(float bias, float) { return bias; }
  static auto finish(const float*, const float*) {
    return [](Floats sum) INLINE { return sum; };
  }
};

#endif
