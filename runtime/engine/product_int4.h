// Sums of products of codes 0…15 with activations −127…127, four in each lane.
//
// AVX2 cannot add four products of bytes at once.  It adds pairs in 16 bits, where up to 16 products fit (16·15·127 <
// 2¹⁵); `whole_sums` then adds the two sums of each lane.
#pragma once

#include "simd.h"

inline Ints add_products(Ints sum, Ints codes, Ints values) {
#if defined(__AVX512VNNI__)
  return (Ints)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)codes, (__m512i)values);
#elif defined(__AVXVNNI__)
  return (Ints)_mm256_dpbusd_avx_epi32((__m256i)sum, (__m256i)codes, (__m256i)values);
#elif defined(__AVX2__)
  return (Ints)_mm256_add_epi16((__m256i)sum, _mm256_maddubs_epi16((__m256i)codes, (__m256i)values));
#else
  for (int shift = 0; shift < 32; shift += 8) sum += (codes >> shift & 255) * (values << (24 - shift) >> 24);
  return sum;
#endif
}

inline Ints whole_sums(Ints sum) {
#if defined(__AVX2__) && !defined(__AVX512VNNI__) && !defined(__AVXVNNI__)
  return (Ints)_mm256_madd_epi16((__m256i)sum, _mm256_set1_epi16(1));
#else
  return sum;
#endif
}

// Make floats from the upper halves of their bits.
inline Floats upper_halves(const uint16_t* from) {
  using Halves = uint16_t __attribute__((vector_size(2 * LANES)));
  Halves halves;
  std::memcpy(&halves, from, sizeof halves);
  return (Floats)(__builtin_convertvector(halves, Ints) << 16);
}
