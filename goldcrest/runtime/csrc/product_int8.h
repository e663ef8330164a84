// Products of unsigned 8-bit activations with signed 8-bit weights: y[m][n] = Σₖ (a[m][k] − 128)·w[n][k].
//
// Activations are codes −127…127 stored with 128 added, since the processors multiply unsigned by signed
// bytes; 128·Σₖ w[n][k] is taken off again.  Weights lie in panels of up to COLUMNS outputs, four inputs
// side by side, as the instructions want them:
//
//     panel[k/4][n][k%4],  n < 16·vectors,  inputs padded with zeros to a multiple of DEPTH_STEP.
#pragma once

#include "buffer.h"
#include "simd.h"

constexpr int COLUMNS = 64;      // of a panel
constexpr int VECTOR = 16;       // columns are padded to a multiple of this
constexpr int DEPTH_STEP = 64;   // inputs are padded to a multiple of this
constexpr int BLOCK_ROWS = 48;   // rows whose sums are computed before they are used

inline int round_up(int number, int step) { return (number + step - 1) / step * step; }

struct Int8 {
  using Value = uint8_t;
  using Weight = int8_t;
  using Sum = int32_t;

  // An activation of 0.
  static constexpr uint8_t ZERO = 128;

  // Activation codes: x·scale to the nearest of −127…127, with 128 added.
  static void store(uint8_t* to, Floats x, float scale) {
    store_bytes(to, maximum(to_nearest(x * scale), all(-127)));  // 127 by saturation
  }

  // Where weight (n, k) lies in a panel of `width` columns.
  static size_t place(int k, int n, int width) {
    return (static_cast<size_t>(k / 4) * width + n) * 4 + k % 4;
  }

  // sums[m][n] = Σₖ a[m][k]·w[n][k] for all rows and a panel's columns; sums has COLUMNS a row.
  static void block(const uint8_t* a, int rows, int depth, const int8_t* panel, int width, int32_t* sums);

  // Give back what the processor keeps between products (AMX's tiles); after a batch.
  static void release();
};
