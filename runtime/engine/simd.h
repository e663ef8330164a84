// Vectors of LANES numbers in GCC's notation: + − × / and ?: work lane by lane.  Only this file knows the width of the
// processor's registers and its rounding.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(NEON)
#include <arm_neon.h>
#endif

#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__AVX512F__)
constexpr int LANES = 16;
#elif defined(__AVX2__)
constexpr int LANES = 8;
#else
constexpr int LANES = 4;
#endif

using Floats = float __attribute__((vector_size(4 * LANES)));
using Ints = int32_t __attribute__((vector_size(4 * LANES)));
using UnalignedFloats = float __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
using UnalignedInts = int32_t __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

inline Floats load(const float* from) { return *reinterpret_cast<const UnalignedFloats*>(from); }
inline Ints load(const int32_t* from) { return *reinterpret_cast<const UnalignedInts*>(from); }
inline void store(float* to, Floats x) { *reinterpret_cast<UnalignedFloats*>(to) = x; }
inline Ints all(int32_t x) { return Ints{} + x; }
inline Ints all_four_bytes(const void* from) {  // of any type
  int32_t bytes;
  std::memcpy(&bytes, from, 4);
  return all(bytes);
}
inline Floats to_floats(Ints x) { return __builtin_convertvector(x, Floats); }

// A 16-bit whole number −32767…32767 in units of some step, in which finite numbers are stored, but not computed with.
struct Word {
  int16_t code;
  static constexpr float LARGEST = 32767;
  static constexpr float LEAST = 1e-30f;  // of the largest magnitude that is divided by
};

// 0, 1, 2, …
inline Ints lanes() {
  Ints count;
  for (int i = 0; i < LANES; ++i) count[i] = i;
  return count;
}

#if defined(__AVX512F__)
inline Floats all(float x) { return (Floats)_mm512_set1_ps(x); }  // 0 + x would be an addition: x may be −0
inline Floats maximum(Floats a, Floats b) { return (Floats)_mm512_max_ps((__m512)a, (__m512)b); }
inline Ints maximum(Ints a, Ints b) { return (Ints)_mm512_max_epi32((__m512i)a, (__m512i)b); }
inline Ints to_nearest(Floats x) { return (Ints)_mm512_cvtps_epi32((__m512)x); }  // halves to even
inline bool any_above(Floats x, float than) {
  return _mm512_cmp_ps_mask((__m512)x, _mm512_set1_ps(than), _CMP_GT_OQ);
}
inline Floats load(const Word* from) {
  return to_floats((Ints)_mm512_cvtepi16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
}
inline void store(Word* to, Floats x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtsepi32_epi16((__m512i)to_nearest(x)));
}
inline float sum(Floats x) { return _mm512_reduce_add_ps((__m512)x); }
inline float largest(Floats x) { return _mm512_reduce_max_ps((__m512)x); }
// Store the lanes as bytes: −128…127 with saturation, then 128 added.
inline void store_codes(uint8_t* to, Ints x) {
  const __m128i bytes = _mm_xor_si128(_mm512_cvtsepi32_epi8((__m512i)x), _mm_set1_epi8(-128));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
}
#elif defined(__AVX2__)
inline Floats all(float x) { return (Floats)_mm256_set1_ps(x); }
inline Floats maximum(Floats a, Floats b) { return (Floats)_mm256_max_ps((__m256)a, (__m256)b); }
inline Ints maximum(Ints a, Ints b) { return (Ints)_mm256_max_epi32((__m256i)a, (__m256i)b); }
inline Ints to_nearest(Floats x) { return (Ints)_mm256_cvtps_epi32((__m256)x); }  // halves to even
inline Floats minimum(Floats a, Floats b) { return (Floats)_mm256_min_ps((__m256)a, (__m256)b); }
inline bool any_above(Floats x, float than) {
  return _mm256_movemask_ps(_mm256_cmp_ps((__m256)x, _mm256_set1_ps(than), _CMP_GT_OQ));
}
inline float sum(Floats x) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128((__m256)x), _mm256_extractf128_ps((__m256)x, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
inline float largest(Floats x) {
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128((__m256)x), _mm256_extractf128_ps((__m256)x, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}
// The lanes as 16-bit numbers; as bytes 0…127; and as bytes −128…127 with saturation, then 128 added.
inline __m128i words(Ints x) {
  return _mm_packs_epi32(_mm256_castsi256_si128((__m256i)x), _mm256_extracti128_si256((__m256i)x, 1));
}
inline void store_words(void* to, Ints x) { _mm_storeu_si128(static_cast<__m128i*>(to), words(x)); }
inline Floats load(const Word* from) {
  return to_floats((Ints)_mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}
inline void store(Word* to, Floats x) { store_words(to, to_nearest(x)); }
inline void store_bytes(uint8_t* to, Ints x) {
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(words(x), words(x)));
}
inline void store_codes(uint8_t* to, Ints x) {
  const __m128i bytes = _mm_xor_si128(_mm_packs_epi16(words(x), words(x)), _mm_set1_epi8(-128));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), bytes);
}
#elif defined(NEON)
inline Floats all(float x) { return (Floats)vdupq_n_f32(x); }
inline Floats maximum(Floats a, Floats b) { return (Floats)vmaxq_f32((float32x4_t)a, (float32x4_t)b); }
inline Ints maximum(Ints a, Ints b) { return (Ints)vmaxq_s32((int32x4_t)a, (int32x4_t)b); }
inline Ints to_nearest(Floats x) { return (Ints)vcvtnq_s32_f32((float32x4_t)x); }  // halves to even
inline bool any_above(Floats x, float than) { return vmaxvq_u32(vcgtq_f32((float32x4_t)x, vdupq_n_f32(than))); }
inline float sum(Floats x) { return vaddvq_f32((float32x4_t)x); }
inline float largest(Floats x) { return vmaxvq_f32((float32x4_t)x); }
inline Floats load(const Word* from) {
  return (Floats)vcvtq_f32_s32(vmovl_s16(vld1_s16(reinterpret_cast<const int16_t*>(from))));
}
inline void store(Word* to, Floats x) {
  vst1_s16(reinterpret_cast<int16_t*>(to), vqmovn_s32((int32x4_t)to_nearest(x)));
}
// Store the lanes as bytes −128…127 with saturation.
inline void store_codes(int8_t* to, Ints x) {
  const int16x4_t words = vqmovn_s32((int32x4_t)x);
  const int8x8_t bytes = vqmovn_s16(vcombine_s16(words, words));
  std::memcpy(to, &bytes, LANES);
}
#else  // any other processor: the compiler's code for four lanes
using Words = int16_t __attribute__((vector_size(2 * LANES)));

inline Floats all(float x) { return x - Floats{}; }  // keeps −0
inline Floats maximum(Floats a, Floats b) { return a > b ? a : b; }
inline Ints maximum(Ints a, Ints b) { return a > b ? a : b; }
inline Floats minimum(Floats a, Floats b) { return a < b ? a : b; }
inline Ints to_nearest(Floats x) {  // halves to even
#ifdef __SSE2__
  return (Ints)_mm_cvtps_epi32((__m128)x);
#else
  return Ints{(int32_t)std::lrintf(x[0]), (int32_t)std::lrintf(x[1]), (int32_t)std::lrintf(x[2]),
              (int32_t)std::lrintf(x[3])};
#endif
}
inline bool any_above(Floats x, float than) {
  const Ints above = x > all(than);
  return above[0] | above[1] | above[2] | above[3];
}
inline float sum(Floats x) { return (x[0] + x[2]) + (x[1] + x[3]); }
inline float largest(Floats x) { return std::fmax(std::fmax(x[0], x[2]), std::fmax(x[1], x[3])); }
// Store the lanes, which must be in range, as 16-bit numbers.
inline void store_words(void* to, Ints x) {
  const Words words = __builtin_convertvector(x, Words);
  std::memcpy(to, &words, sizeof words);
}
inline Floats load(const Word* from) {
  Words words;
  std::memcpy(&words, from, sizeof words);
  return __builtin_convertvector(words, Floats);
}
inline void store(Word* to, Floats x) { store_words(to, to_nearest(x)); }
#endif

inline Floats magnitude(Floats x) { return maximum(x, -x); }

// Lane i is lane from[i] of a, or lane from[i] − LANES of b.
inline Floats shuffled(Floats a, Floats b, Ints from) {
#ifdef __clang__
  Floats found;
  for (int i = 0; i < LANES; ++i) found[i] = from[i] < LANES ? a[from[i]] : b[from[i] - LANES];
  return found;
#else
  return __builtin_shuffle(a, b, from);
#endif
}

// rows[i][j] ← rows[j][i]: exchange single lanes, then pairs, then fours, …
inline void transpose(Floats rows[LANES]) {
  const Ints lane = lanes();
#pragma GCC unroll 4
  for (int step = 1; step < LANES; step *= 2) {
    const Ints upper = (lane & step) != 0;  // lanes that come from the other row
    const Ints low = upper ? lane - step + LANES : lane, high = upper ? lane + LANES : lane + step;
#pragma GCC unroll 16
    for (int i = 0; i < LANES; ++i) {
      if (i & step) continue;
      const Floats a = rows[i], b = rows[i + step];
      rows[i] = shuffled(a, b, low);
      rows[i + step] = shuffled(a, b, high);
    }
  }
}

// to[i·stride + lane] ← row(lane)[i].
template <class Row, class T>
inline void store_transposed(Row row, T* to, size_t stride) {
  Floats tile[LANES];
  for (int i = 0; i < LANES; ++i) tile[i] = row(i);
  transpose(tile);
  for (int i = 0; i < LANES; ++i) store(to + i * stride, tile[i]);
}

// Return a vector whose lane i is the sum of rows[i].  Each step merges pairs of rows into one row of sums of two
// lanes.
inline Floats sums(Floats rows[LANES]) {
  const Ints lane = lanes();
#pragma GCC unroll 4
  for (int step = 1; step < LANES; step *= 2) {
    const Ints upper = (lane & step) != 0;  // lanes for sums of the other row
    const Ints low = upper ? lane - step + LANES : lane, high = upper ? lane + LANES : lane + step;
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i += 2 * step) {
      const Floats a = rows[i], b = rows[i + step];
      rows[i] = shuffled(a, b, low) + shuffled(a, b, high);
    }
  }
  return rows[0];
}

// eˣ = 2ⁿ·2ᶠ with whole n and |f| ≤ ½, where a minimax polynomial computes 2ᶠ.  Relative error: 2·10⁻⁷ near 0, 6·10⁻⁷
// for very negative x.  x must be at most 87, where 2ⁿ overflows; below −87 it counts as −87.
inline Floats exponential(Floats x) {
  constexpr float LOG2_E = 1.44269504088896f;
  const Floats clipped = maximum(x, all(-87.0f));
  const Ints n = to_nearest(clipped * LOG2_E);
  const Floats f = clipped * LOG2_E - to_floats(n);  // fused, and therefore without rounding
  Floats y = all(1.3264727e-3f);
  for (float c : {9.6715130e-3f, 5.5507336e-2f, 0.24022242f, 0.69314700f, 1.0f}) y = y * f + c;
  return y * (Floats)((n + 127) << 23);  // 2ⁿ
}

inline Floats sigmoid(Floats x) { return 1.0f / (1.0f + exponential(-maximum(x, all(-87.0f)))); }
