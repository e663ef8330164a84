// The inner loops of all products: a tile of R rows and V vectors of columns, its sums held in registers until
// they are given on, so that what becomes of them is computed beside the next tile's products.
#pragma once

#include <cstddef>

#include "simd.h"

#ifdef __AVX512F__
constexpr int TILE_ROWS = 6, TILE_VECTORS = 4;  // 24 registers of sums
#else
constexpr int TILE_ROWS = 4, TILE_VECTORS = 2;  // 8 registers of sums
#endif

#if defined(__AVX512VNNI__)

// Four products of bytes are added to each lane.
inline Ints multiply_add(Ints sum, Ints a, Ints w) {
  return (Ints)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)a, (__m512i)w);
}

#else

// Without such an instruction by way of 16 bits, which no product of two bytes can exceed: the even and the
// odd bytes of each pair of products (a · w) are widened and added in 32 bits.
inline Ints multiply_add(Ints sum, Ints a, Ints w) {
  const __m256i bytes = _mm256_set1_epi16(0x00ff);
  const __m256i a_even = _mm256_and_si256((__m256i)a, bytes);
  const __m256i a_odd = _mm256_srli_epi16((__m256i)a, 8);
  const __m256i w_even = _mm256_srai_epi16(_mm256_slli_epi16((__m256i)w, 8), 8);
  const __m256i w_odd = _mm256_srai_epi16((__m256i)w, 8);
  return sum + (Ints)_mm256_madd_epi16(a_even, w_even) + (Ints)_mm256_madd_epi16(a_odd, w_odd);
}

#endif

// How one step of a product is made, by the kind of numbers: DEPTH inputs of a row with those of each column.
struct ByteStep {
  static constexpr int DEPTH = 4;
  static Ints row(const uint8_t* a) {
    int32_t quad;
    std::memcpy(&quad, a, 4);
    return all(quad);
  }
  static Ints columns(const int8_t* w) { return load(reinterpret_cast<const int32_t*>(w)); }
  static Ints add(Ints sum, Ints a, Ints w) { return multiply_add(sum, a, w); }
};

struct FloatStep {
  static constexpr int DEPTH = 1;
  static Floats row(const float* a) { return all(*a); }
  static Floats columns(const float* w) { return load(w); }
  static Floats add(Floats sum, Floats a, Floats w) { return sum + a * w; }
};

#ifdef __AVX512BF16__
struct PairStep {
  static constexpr int DEPTH = 2;
  static Ints row(const int16_t* a) {
    int32_t pair;
    std::memcpy(&pair, a, 4);
    return all(pair);
  }
  static Ints columns(const int16_t* w) { return load(reinterpret_cast<const int32_t*>(w)); }
  static Floats add(Floats sum, Ints a, Ints w) {
    return (Floats)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)w);
  }
};
#endif

// Whatever stands in a tile is inlined there, so that addresses are reckoned once and sums never leave registers.
#define INLINE __attribute__((always_inline))

// emit(r, v, start[v] + Σₖ a[r][k]·w[v][k]); a panel of `width` columns lies as product_int8.h says.
template <class Step, int R, int V, class Value, class Weight, class Sum, class Emit>
INLINE inline void tile(const Value* a, int depth, const Weight* panel, int width, const Sum* start, Emit emit) {
  decltype(load(start)) total[R][V];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) total[r][v] = load(start + v * LANES);
#pragma GCC unroll 4
  for (int k = 0; k < depth; k += Step::DEPTH, panel += Step::DEPTH * width) {
    decltype(Step::columns(panel)) w[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) w[v] = Step::columns(panel + v * LANES * Step::DEPTH);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const auto x = Step::row(a + static_cast<size_t>(r) * depth + k);
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) total[r][v] = Step::add(total[r][v], x, w[v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) emit(r, v, total[r][v]);
}

// column(n)(m, LANES of start[n] + Σₖ a[m][k]·w[n][k]) for all rows and V vectors of columns, from `from`.
template <class Step, int V, class Value, class Weight, class Sum, class Column>
INLINE inline void rows_of_tiles(const Value* a, int rows, int depth, const Weight* panel, int width, int from,
                                 const Sum* start, Column column) {
  int row = 0;
  const auto tiles = [=, &row]<int R>() INLINE {
    const int first = row;
    tile<Step, R, V>(a + static_cast<size_t>(first) * depth, depth, panel + static_cast<size_t>(from) * Step::DEPTH,
                     width, start + from,
                     [=](int r, int v, auto sum) INLINE { column(from + v * LANES)(first + r, sum); });
    row += R;
  };
  while (row + TILE_ROWS <= rows) tiles.template operator()<TILE_ROWS>();
  while (row + 2 <= rows) tiles.template operator()<2>();
  if (row < rows) tiles.template operator()<1>();
}

// The same for a whole panel.
template <class Step, class Value, class Weight, class Sum, class Column>
INLINE inline void multiply(const Value* a, int rows, int depth, const Weight* panel, int width, const Sum* start,
                            Column column) {
  int from = 0;
  for (; from + TILE_VECTORS * LANES <= width; from += TILE_VECTORS * LANES)
    rows_of_tiles<Step, TILE_VECTORS>(a, rows, depth, panel, width, from, start, column);
  for (; from < width; from += LANES) rows_of_tiles<Step, 1>(a, rows, depth, panel, width, from, start, column);
}
