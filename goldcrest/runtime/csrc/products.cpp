// The inner loops of all products: R rows times one panel, sums held in registers.
#include "product_float.h"
#include "product_int8.h"

namespace {

#if defined(__AVX512VNNI__)

// Four products of bytes are added to each lane.
inline Ints multiply_add(Ints sum, Ints a, Ints w) {
  return (Ints)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)a, (__m512i)w);
}

#elif defined(__AVXVNNI__)

inline Ints multiply_add(Ints sum, Ints a, Ints w) {
  return (Ints)_mm256_dpbusd_avx_epi32((__m256i)sum, (__m256i)a, (__m256i)w);
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

inline Ints broadcast_quad(const uint8_t* four) {
  int32_t quad;
  std::memcpy(&quad, four, 4);
  return all(quad);
}

// R rows, V vectors of columns from `column` of a panel of `width` columns.
template <int R, int V>
inline void tile(const uint8_t* a, int depth, const int8_t* panel, int width, int32_t* sums) {
  Ints total[R][V];
  for (auto& row : total)
    for (auto& sum : row) sum = Ints{};
  const int32_t* quads = reinterpret_cast<const int32_t*>(panel);
  for (int k = 0; k < depth; k += 4, quads += width) {
    Ints w[V];
    for (int v = 0; v < V; ++v) w[v] = load(quads + v * LANES);
    for (int r = 0; r < R; ++r) {
      const Ints quad = broadcast_quad(a + static_cast<size_t>(r) * depth + k);
      for (int v = 0; v < V; ++v) total[r][v] = multiply_add(total[r][v], quad, w[v]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v) store(sums + r * COLUMNS + v * LANES, total[r][v]);
}

template <int R, int V>
inline void tile(const float* a, int depth, const float* panel, int width, float* sums) {
  Floats total[R][V];
  for (auto& row : total)
    for (auto& sum : row) sum = Floats{};
  for (int k = 0; k < depth; ++k, panel += width) {
    Floats w[V];
    for (int v = 0; v < V; ++v) w[v] = load(panel + v * LANES);
    for (int r = 0; r < R; ++r) {
      const Floats x = all(a[static_cast<size_t>(r) * depth + k]);
      for (int v = 0; v < V; ++v) total[r][v] += x * w[v];
    }
  }
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v) store(sums + r * COLUMNS + v * LANES, total[r][v]);
}

#ifdef __AVX512F__
constexpr int ROWS = 6, VECTORS = 4;  // 24 registers of sums
#else
constexpr int ROWS = 4, VECTORS = 2;  // 8 registers of sums
#endif

template <int V, class Value, class Weight, class Sum>
void rows_of_tiles(const Value* a, int rows, int depth, const Weight* panel, int width, Sum* sums) {
  int row = 0;
  for (; row + ROWS <= rows; row += ROWS)
    tile<ROWS, V>(a + static_cast<size_t>(row) * depth, depth, panel, width, sums + row * COLUMNS);
  a += static_cast<size_t>(row) * depth;
  sums += row * COLUMNS;
  switch (rows - row) {
    case 5: return tile<5, V>(a, depth, panel, width, sums);
    case 4: return tile<4, V>(a, depth, panel, width, sums);
    case 3: return tile<3, V>(a, depth, panel, width, sums);
    case 2: return tile<2, V>(a, depth, panel, width, sums);
    case 1: return tile<1, V>(a, depth, panel, width, sums);
  }
}

// Columns × bytes of a column's weights per input step are what a vector moves on by.
template <int STRIDE, class Value, class Weight, class Sum>
void panel_of_tiles(const Value* a, int rows, int depth, const Weight* panel, int width, Sum* sums) {
  for (int column = 0; column < width;) {
    const int left = (width - column) / LANES, vectors = left < VECTORS ? left : VECTORS;
    const Weight* from = panel + static_cast<size_t>(column) * STRIDE;
    switch (vectors) {
      case 4: rows_of_tiles<VECTORS < 4 ? VECTORS : 4>(a, rows, depth, from, width, sums + column); break;
      case 3: rows_of_tiles<VECTORS < 3 ? VECTORS : 3>(a, rows, depth, from, width, sums + column); break;
      case 2: rows_of_tiles<2>(a, rows, depth, from, width, sums + column); break;
      case 1: rows_of_tiles<1>(a, rows, depth, from, width, sums + column); break;
    }
    column += vectors * LANES;
  }
}

}  // namespace

#ifndef RUNTIME_BRGEMM
void Int8::block(const uint8_t* a, int rows, int depth, const int8_t* panel, int width, int32_t* sums) {
  panel_of_tiles<4>(a, rows, depth, panel, width, sums);
}
#endif

void Float32::block(const float* a, int rows, int depth, const float* panel, int width, float* sums) {
  panel_of_tiles<1>(a, rows, depth, panel, width, sums);
}
