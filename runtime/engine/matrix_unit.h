// The matrix unit (AMX).  It has eight registers, each a tile of up to 16 rows of 64 bytes, and multiplies two tiles
// and adds the product to a third.  No other file uses its instructions.  With TILES_IN_MEMORY, tiles are ordinary
// memory, so that tests run without the unit.
//
//     registers 0 to 3   C  rows × 16 sums
//               4 and 5  A  rows × 64 bytes of activations
//               6 and 7  B  16 × 64 bytes of weights: 16 outputs, their inputs four bytes side by side
//
// The last call of `shape` determines the number of rows of A and C.
#pragma once

#ifdef MATRIX_UNIT

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tiles.h"

namespace matrix_unit {

constexpr int ROWS = 16;          // of a tile, at most
constexpr int ROW_BYTES = 64;     // of a tile
constexpr int TILE_COLUMNS = 16;  // of four bytes
constexpr int TILE_BYTES = ROWS * ROW_BYTES;

inline thread_local int shaped_rows = 0;  // of A and C; 0: the unit is not in use

#ifndef TILES_IN_MEMORY

// Configuration of the tiles, in the processor's format.
struct alignas(64) Shapes {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};

  explicit Shapes(int count) {
    std::fill(row_bytes, row_bytes + 8, ROW_BYTES);
    std::fill(rows, rows + 6, count);
    std::fill(rows + 6, rows + 8, ROWS);
  }
};

// Set the number of rows of A and C.  If it changes, all registers become zero.
inline void shape(int rows) {
  if (rows == shaped_rows) return;
  const Shapes shapes(rows);
  asm volatile("ldtilecfg %0" : : "m"(shapes));
  shaped_rows = rows;
}

// Release the unit; otherwise the system saves its registers at every switch between processes.
inline void release() {
  asm volatile("tilerelease");
  shaped_rows = 0;
}

// Load a tile whose rows are `stride` bytes apart.
template <int T>
INLINE inline void load_tile(const void* from, size_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "n"(T) : "memory");
}

// Store a tile, its rows contiguous.
template <int T>
INLINE inline void store_tile(void* to) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(size_t{ROW_BYTES}), "n"(T) : "memory");
}

// C[m][n] += Σₖ A[m][k]·B[k/4][n][k%4], of unsigned by signed bytes.
template <int C, int A, int B>
INLINE inline void add_products(int32_t) {
  asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "n"(C), "n"(A), "n"(B));
}

// C[m][n] += Σₖ A[m][k]·B[k/2][n][k%2], of bfloat16 numbers.
template <int C, int A, int B>
INLINE inline void add_products(float) {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "n"(C), "n"(A), "n"(B));
}

#else

alignas(64) inline thread_local uint8_t registers[8][ROWS][ROW_BYTES];

inline void shape(int rows) { shaped_rows = rows; }
inline void release() { shaped_rows = 0; }

template <int T>
void load_tile(const void* from, size_t stride) {
  for (int m = 0; m < (T < 6 ? shaped_rows : ROWS); ++m)
    std::memcpy(registers[T][m], static_cast<const uint8_t*>(from) + m * stride, ROW_BYTES);
}

template <int T>
void store_tile(void* to) {
  std::memcpy(to, registers[T], static_cast<size_t>(shaped_rows) * ROW_BYTES);
}

// X: type of the numbers of A.  W: of B.
template <int C, int A, int B, class X, class W, class Sum, class Product>
void add_each(Product product) {
  constexpr int GROUP = 4 / sizeof(X), INPUTS = ROW_BYTES / sizeof(X);
  X a[INPUTS];
  W b[ROWS][INPUTS];
  Sum c[TILE_COLUMNS];
  std::memcpy(b, registers[B], TILE_BYTES);
  for (int m = 0; m < shaped_rows; ++m) {
    std::memcpy(a, registers[A][m], ROW_BYTES);
    std::memcpy(c, registers[C][m], ROW_BYTES);
    for (int n = 0; n < TILE_COLUMNS; ++n)
      for (int k = 0; k < INPUTS; ++k) c[n] += product(a[k], b[k / GROUP][n * GROUP + k % GROUP]);
    std::memcpy(registers[C][m], c, ROW_BYTES);
  }
}

template <int C, int A, int B>
void add_products(int32_t) {
  add_each<C, A, B, uint8_t, int8_t, int32_t>([](int x, int w) { return x * w; });
}

template <int C, int A, int B>
void add_products(float) {
  const auto widened = [](uint16_t bits) {
    const uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float x;
    std::memcpy(&x, &wide, sizeof x);
    return x;
  };
  add_each<C, A, B, uint16_t, uint16_t, float>([=](uint16_t x, uint16_t w) { return widened(x) * widened(w); });
}

#endif

}  // namespace matrix_unit

#endif
