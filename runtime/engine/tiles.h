// The inner loops of products with vector instructions.  A tile is R rows by V vectors of columns, whose sums stay in
// registers.  The epilogue of one tile is computed while the products of the next begin.
//
// Weights are stored in panels of up to COLUMNS outputs, so that a tile reads them contiguously.
//
// A Step defines one step of a product for a kind of numbers (product_*.h): `row` loads DEPTH inputs of a row into all
// lanes, `columns` loads those of each column, and `add` adds their products to the sums.  ROWS is the largest tile for
// whose sums and operands the registers suffice.  A Step for a processor that multiplies small matrices has its own
// `tile`.
#pragma once

#include <algorithm>
#include <cstddef>

#include "simd.h"

#if defined(__AVX512F__) || defined(NEON)  // 32 registers
constexpr int TILE_VECTORS = 4;
#else
constexpr int TILE_VECTORS = 2;
#endif
constexpr int COLUMNS = TILE_VECTORS * LANES;  // of a panel
constexpr int VECTOR = 16;                     // columns are padded to a multiple of this
constexpr int DEPTH_STEP = 64;                 // inputs are padded to a multiple of this

inline int round_up(int number, int step) { return (number + step - 1) / step * step; }

// Everything in a tile is inlined, so that addresses are computed once and sums stay in registers.
#define INLINE __attribute__((always_inline))

// Call emit(r, v, start[v] + Σₖ a[r][k]·w[v][k]) for a tile; the panel of `width` columns has the layout of its Step.
// Meanwhile the memory from `ahead` on is prefetched, `stride` bytes with each step.
template <class Step, int R, int V, class Value, class Weight, class Sum, class Emit>
INLINE inline void tile(const Value* a, int depth, const Weight* panel, int width, const Sum* start, const char* ahead,
                        int stride, Emit emit) {
  decltype(load(start)) total[R][V];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) total[r][v] = load(start + v * LANES);
#pragma GCC unroll 4
  for (int k = 0; k < depth; k += Step::DEPTH, panel += Step::DEPTH * width, ahead += stride) {
    __builtin_prefetch(ahead, 0, 2);
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

// Call column(n)(m, LANES of start[n] + Σₖ a[m][k]·w[n][k]) for all rows and for V vectors of columns from `from` on.
template <class Step, int V, class Value, class Weight, class Sum, class Column>
INLINE inline void rows_of_tiles(const Value* a, int rows, int depth, const Weight* panel, int width, int from,
                                 const Sum* start, Column column) {
  int row = 0;
  const size_t bytes = sizeof(Weight) * depth * width;
  const char* next = reinterpret_cast<const char*>(panel) + bytes;
  const int step = Step::DEPTH * width * sizeof(Weight);
  const auto tiles = [=, &row]<int R>() INLINE {
    const int first = row;
    const auto emit = [=](int r, int v, auto sum) INLINE { column(from + v * LANES)(first + r, sum); };
    const Value* at = a + static_cast<size_t>(first) * depth;
    const Weight* weights = panel + static_cast<size_t>(from) * Step::DEPTH;
    if constexpr (requires { Step::OWN_TILE; })
      Step::template tile<R, V>(at, depth, weights, width, start + from, emit);
    else
      tile<Step, R, V>(at, depth, weights, width, start + from, next + bytes * first / rows, step * R / rows, emit);
    row += R;
  };
  if constexpr (Step::ROWS > 4)
    while (row + Step::ROWS <= rows && row + 8 != rows) tiles.template operator()<Step::ROWS>();
  while (row + 4 <= rows) tiles.template operator()<4>();
  if (row + 2 <= rows) tiles.template operator()<2>();
  if (row < rows) tiles.template operator()<1>();
}

// The same for a whole panel.
template <class Step, class Value, class Weight, class Sum, class Column>
INLINE inline void multiply(const Value* a, int rows, int depth, const Weight* panel, int width, const Sum* start,
                            Column column) {
  int from = 0;
  for (; from + COLUMNS <= width; from += COLUMNS)
    rows_of_tiles<Step, TILE_VECTORS>(a, rows, depth, panel, width, from, start, column);
  if constexpr (COLUMNS > VECTOR)  // otherwise every panel is as wide as a tile
    for (; from < width; from += LANES) rows_of_tiles<Step, 1>(a, rows, depth, panel, width, from, start, column);
}

// Base of the kinds of numbers that are multiplied step by step: panel[k/g][n][k%g], g = Step::DEPTH.
template <class S>
struct ByTiles {
  using Step = S;

  // Return the position of weight (n, k) in a panel of `width` columns.
  static size_t place(int k, int n, int width) {
    return (static_cast<size_t>(k / Step::DEPTH) * width + n) * Step::DEPTH + k % Step::DEPTH;
  }

  // Call column(n)(m, LANES of start[n] + Σₖ a[m][k]·w[n][k]) for all rows and all `padded` columns, panel by panel.
  template <class Value, class Weight, class Sum, class Column>
  INLINE static void multiply(const Value* a, int rows, int depth, const Weight* panels, int padded, const Sum* start,
                              Column column) {
    for (int first = 0; first < padded; first += COLUMNS)
      ::multiply<Step>(a, rows, depth, panels + static_cast<size_t>(first) * depth, std::min(COLUMNS, padded - first),
                       start + first, [=](int n) INLINE { return column(first + n); });
  }

  // Called after a batch; nothing is kept between products.
  static void release() {}
};

// Releases what a kind of numbers keeps between products at the end of a scope.
template <class P>
struct Released {
  ~Released() { P::release(); }
};
