// Products with the matrix unit (matrix_unit.h).  Up to 2 × 2 or 1 × 4 tiles of sums are computed together, so that
// several use the same tile of activations or weights.  While the unit computes the next tiles, the vector units
// compute the epilogue of those before, as far as the processor executes out of order.  Weights are read in blocks that
// stay in a near cache until all rows are multiplied by them; meanwhile the next block is prefetched.
//
// Weights are stored in panels of up to COLUMNS outputs, tile by tile:
//
//     panel[k/g/16][n/16][k/g%16][n%16][k%g],  g inputs being four bytes.
#pragma once

#include "tiles.h"

#ifdef MATRIX_UNIT

#include <array>
#include <utility>

#include "matrix_unit.h"

namespace matrix_unit {

// Return the position of weight (n, k) in a panel of `width` columns; GROUP inputs are four bytes.
template <int GROUP>
inline size_t place(int k, int n, int width) {
  const int row = k / GROUP, column = n % TILE_COLUMNS;
  const size_t tile = static_cast<size_t>(row / ROWS) * (width / TILE_COLUMNS) + n / TILE_COLUMNS;
  return ((tile * ROWS + row % ROWS) * TILE_COLUMNS + column) * GROUP + k % GROUP;
}

static_assert(LANES == TILE_COLUMNS && VECTOR % TILE_COLUMNS == 0 && COLUMNS == 4 * TILE_COLUMNS);
static_assert(DEPTH_STEP % ROW_BYTES == 0);

constexpr size_t BLOCK_BYTES = 128 << 10;  // of weights, about
constexpr int FETCHING_PASSES = 3;  // passes over a block; with fewer, the next block would be wanted before it arrives
constexpr int LINE_BYTES = 64, TILE_LINES = TILE_BYTES / LINE_BYTES;  // of the caches

// Division of rows into tiles of equal height.  The last tile may overlap the one before, so that it needs no padding;
// rows in both count once.
struct RowTiles {
  int rows, count, height;

  explicit RowTiles(int rows)
      : rows(rows), count((rows + ROWS - 1) / ROWS), height((rows + count - 1) / count) {}
  int begin(int tile) const { return std::min(tile * height, rows - height); }
  int first(int tile) const { return tile * height; }  // first row that counts
  int end(int tile) const { return std::min((tile + 1) * height, rows); }
};

// One of several sums: each row's bytes from `skip` on, multiplied by the first `bytes` of a panel.
template <class Sum>
struct Part {
  size_t skip, bytes;
  const Sum* start;  // of each column
};

// Call step<0>(), step<1>(), … step<N − 1>().
template <int N, class Step>
INLINE inline void times(Step step) {
  [&]<int... I>(std::integer_sequence<int, I...>) INLINE {
    (step.template operator()<I>(), ...);
  }(std::make_integer_sequence<int, N>());
}

// Prefetching of the cache lines first … end − 1 of a tile of weights that is `bytes` ahead.
struct Ahead {
  size_t bytes = 0;
  int first = 0, end = 0;

  INLINE void fetch(const uint8_t* tile) const {
    for (int line = first; line < end; ++line) __builtin_prefetch(tile + bytes + line * LINE_BYTES, 0, 2);
  }
};

// Compute M × N tiles of sums: `bytes` of rows at a, one row `stride` bytes after the other and the second tile `next`
// bytes after the first, multiplied by columns of a panel with `panel_tiles` tiles for each step.  ahead: what is
// prefetched with each tile of weights.  meanwhile(): called after each step.
template <int M, int N, class Sum, class Meanwhile>
INLINE inline void sum_tiles(const uint8_t* a, size_t bytes, size_t stride, size_t next, const uint8_t* panel,
                             int panel_tiles, const Sum* start, Ahead ahead, Meanwhile meanwhile) {
  times<M * N>([&]<int T>() INLINE { load_tile<T>(start + T % N * TILE_COLUMNS, 0); });  // the same in every row
  for (size_t k = 0; k < bytes; k += ROW_BYTES, panel += panel_tiles * TILE_BYTES) {
    times<M>([&]<int T>() INLINE { load_tile<4 + T>(a + T * next + k, stride); });
    times<N>([&]<int V>() INLINE {
      load_tile<6 + V % 2>(panel + V * TILE_BYTES, ROW_BYTES);
      ahead.fetch(panel + V * TILE_BYTES);
      times<M>([&]<int T>() INLINE { add_products<T * N + V, 4 + T, 6 + V % 2>(Sum()); });
    });
    meanwhile();
  }
}

// Call column(n)(m, LANES of start[n] + Σₖ a[m][k]·w[n][k] of each part) for all rows and all `padded` columns, panel
// by panel.  The first part spans the whole panel.
template <class Value, class Weight, class Sum, size_t PARTS, class Column>
INLINE inline void multiply(const Value* a, int rows, int depth, const Weight* panels, int padded,
                            const std::array<Part<Sum>, PARTS>& parts, Column column) {
  static_assert(sizeof(Value) == sizeof(Weight));
  if (!rows) return;
  const RowTiles tiles(rows);
  shape(tiles.height);
  const size_t bytes = sizeof(Value) * depth;

  // Finished tiles, passed on one by one while the next are computed.
  alignas(64) Sum sums[2][PARTS][4][ROWS][TILE_COLUMNS];
  int turn = 0, given = 0, count = 0, width = 1, row_tile = 0, first_column = 0;
  const auto give = [&]() INLINE {
    if (given == count) return;
    const int tile = row_tile + given / width;
    const auto emit = column(first_column + given % width * TILE_COLUMNS);  // its captures stay in registers
    const Sum* from = sums[turn][0][given][tiles.first(tile) - tiles.begin(tile)];
    const int end = tiles.end(tile);
    [&]<size_t... P>(std::index_sequence<P...>) INLINE {
#pragma GCC unroll 4
      for (int m = tiles.first(tile); m < end; ++m, from += TILE_COLUMNS)
        emit(m, load(from + P * (sizeof sums[0][0] / sizeof(Sum)))...);
    }(std::make_index_sequence<PARTS>());
    ++given;
  };
  const auto sum = [&]<int M, int N>(int tile, int n, Ahead ahead) INLINE {
    const int panel = n / COLUMNS * COLUMNS, panel_tiles = std::min(COLUMNS, padded - panel) / TILE_COLUMNS;
    const uint8_t* weights = reinterpret_cast<const uint8_t*>(panels) + panel * bytes +
                             static_cast<size_t>(n - panel) / TILE_COLUMNS * TILE_BYTES;
    const int begin = tiles.begin(tile), next = tiles.begin(tile + M - 1) - begin;
    times<PARTS>([&]<int P>() INLINE {
      const Part<Sum>& part = parts[P];
      sum_tiles<M, N>(reinterpret_cast<const uint8_t*>(a) + begin * bytes + part.skip, part.bytes, bytes, next * bytes,
                      weights, panel_tiles, part.start + n, P ? Ahead{} : ahead, give);
      times<M * N>([&]<int T>() INLINE { store_tile<T>(sums[turn ^ 1][P][T]); });
    });
    while (given < count) give();
    turn ^= 1;
    given = 0, count = M * N, width = N, row_tile = tile, first_column = n;
  };
  // Compute M tiles of rows, for the columns from n to `end`.
  const auto sum_rows = [&]<int M>(int tile, int n, int end, Ahead ahead) INLINE {
    while (n < end) {
      const int together = std::min(COLUMNS - n % COLUMNS, end - n) / TILE_COLUMNS;  // in this panel
      if (M == 1 && together == 4)
        sum.template operator()<1, 4>(tile, n, ahead), n += 4 * TILE_COLUMNS;
      else if (together >= 2)
        sum.template operator()<M, 2>(tile, n, ahead), n += 2 * TILE_COLUMNS;
      else
        sum.template operator()<M, 1>(tile, n, ahead), n += TILE_COLUMNS;
    }
  };

  const int block = std::max<int>(BLOCK_BYTES / std::max<size_t>(bytes, 1) / COLUMNS, 1) * COLUMNS;
  const int passes = (tiles.count + 1) / 2;
  for (int n = 0; n < padded; n += block) {
    const int end = std::min(n + block, padded);
    for (int pass = 0; pass < passes; ++pass) {
      Ahead ahead;  // each pass prefetches its share of the next block
      if (passes >= FETCHING_PASSES && end < padded)
        ahead = {block * bytes, TILE_LINES * pass / passes, TILE_LINES * (pass + 1) / passes};
      if (2 * pass + 1 < tiles.count)
        sum_rows.template operator()<2>(2 * pass, n, end, ahead);
      else
        sum_rows.template operator()<1>(2 * pass, n, end, ahead);
    }
  }
  while (given < count) give();
}

}  // namespace matrix_unit

// Counterpart of ByTiles for the matrix unit.
template <class S>
struct ByMatrixUnit : ByTiles<S> {
  static size_t place(int k, int n, int width) { return matrix_unit::place<S::DEPTH>(k, n, width); }

  template <class Value, class Weight, class Sum, class Column>
  INLINE static void multiply(const Value* a, int rows, int depth, const Weight* panels, int padded, const Sum* start,
                              Column column) {
    const std::array parts = {matrix_unit::Part<Sum>{0, sizeof(Value) * depth, start}};
    matrix_unit::multiply(a, rows, depth, panels, padded, parts, column);
  }

  static void release() { matrix_unit::release(); }
};

template <class Step>
using Products = ByMatrixUnit<Step>;

#else

template <class Step>
using Products = ByTiles<Step>;

#endif
