// Products of 8-bit codes with Arm's vector instructions: y[m][n] = Σₖ a[m][k]·w[n][k].  Activations are bytes
// −127…127.  Weights are stored in panels of COLUMNS outputs, inputs padded with zeros to a multiple of DEPTH_STEP:
//
//     any processor of 64 bits   panel[k/4][n/4][k%4/2][n%4][k%2]: pairs of inputs; two products fit into 16 bits
//                                (2·127·127 < 2¹⁵)
//     byte products (ARMv8.2)    panel[k/4][n][k%4]
//     small matrices (ARMv8.6)   panel[k/8][n][k%8]: a register holds two outputs by eight inputs
#pragma once

#ifdef NEON

#include "tiles.h"

// Base of all kinds: y = Σₖ a·w·step + bias.
template <class Step>
struct Codes : ByTiles<Step> {
  using Value = int8_t;
  using Weight = int8_t;
  using Sum = int32_t;
  using Kept = Word;

  // Store activation codes: x·scale rounded and clipped to −127…127.
  static void store(int8_t* to, Floats x, float scale) {
    store_codes(to, maximum(to_nearest(x * scale), all(-127)));  // saturation clips to 127
  }

  // The same for ReLU(x), x in units of a code.
  static void store_positive(int8_t* to, Floats x) { store_codes(to, to_nearest(maximum(x, Floats{}))); }

  static int32_t start(float, int32_t) { return 0; }
  static auto finish(const float* step, const float* bias) {
    return [step = ::load(step), bias = ::load(bias)](Ints sum) INLINE { return to_floats(sum) * step + bias; };
  }
};

#if defined(__ARM_FEATURE_MATMUL_INT8)

struct MatrixStep {
  static constexpr int DEPTH = 8, ROWS = 6;
  static constexpr bool OWN_TILE = true;

  // Same as ::tile, but a register holds the sums of two rows by two columns.  A single last row is computed twice.
  template <int R, int V, class Emit>
  INLINE static void tile(const int8_t* a, int depth, const int8_t* panel, int width, const int32_t* start, Emit emit) {
    constexpr int PAIRS = (R + 1) / 2, COLUMN_PAIRS = V * LANES / 2;
    int32x4_t total[PAIRS][COLUMN_PAIRS];
#pragma GCC unroll 4
    for (int r = 0; r < PAIRS; ++r)
#pragma GCC unroll 8
      for (int n = 0; n < COLUMN_PAIRS; ++n) {
        const int32x2_t two = vld1_s32(start + 2 * n);
        total[r][n] = vcombine_s32(two, two);
      }
#pragma GCC unroll 2
    for (int k = 0; k < depth; k += DEPTH, panel += DEPTH * width) {
      int8x16_t rows[PAIRS];
#pragma GCC unroll 4
      for (int r = 0; r < PAIRS; ++r) {
        const int8_t* first = a + static_cast<size_t>(2 * r) * depth + k;
        rows[r] = vcombine_s8(vld1_s8(first), vld1_s8(2 * r + 1 < R ? first + depth : first));
      }
#pragma GCC unroll 8
      for (int n = 0; n < COLUMN_PAIRS; ++n) {
        const int8x16_t columns = vld1q_s8(panel + 2 * n * DEPTH);
#pragma GCC unroll 4
        for (int r = 0; r < PAIRS; ++r) total[r][n] = vmmlaq_s32(total[r][n], rows[r], columns);
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        const auto low = vreinterpretq_s64_s32(total[r / 2][2 * v]), high = vreinterpretq_s64_s32(total[r / 2][2 * v + 1]);
        emit(r, v, (Ints)(r % 2 ? vzip2q_s64(low, high) : vzip1q_s64(low, high)));
      }
  }
};

struct Int8 : Codes<MatrixStep> {
  using Positive = Int8;

  // Put four inputs of each of LANES outputs into a panel.
  static void put(Floats quads, int8_t* to, int) {
    for (int n = 0; n < LANES; ++n) std::memcpy(to + n * MatrixStep::DEPTH, reinterpret_cast<const char*>(&quads) + 4 * n, 4);
  }
};

#elif defined(__ARM_FEATURE_DOTPROD)

struct ByteStep {
  static constexpr int DEPTH = 4, ROWS = 6;
  static Ints row(const int8_t* a) { return all_four_bytes(a); }
  static Ints columns(const int8_t* w) { return load(reinterpret_cast<const int32_t*>(w)); }
  static Ints add(Ints sum, Ints a, Ints w) { return (Ints)vdotq_s32((int32x4_t)sum, (int8x16_t)a, (int8x16_t)w); }
};

struct Int8 : Codes<ByteStep> {
  using Positive = Int8;
};

#else

struct PairsStep {
  static constexpr int DEPTH = 4, ROWS = 4;
  static int8x16_t row(const int8_t* a) {  // the first two bytes four times, then the other two
    const auto* pairs = reinterpret_cast<const int16_t*>(a);
    return vreinterpretq_s8_s16(vcombine_s16(vld1_dup_s16(pairs), vld1_dup_s16(pairs + 1)));
  }
  static int8x16_t columns(const int8_t* w) { return vld1q_s8(w); }
  static Ints add(Ints sum, int8x16_t a, int8x16_t w) {
    const int16x8_t products = vmlal_high_s8(vmull_s8(vget_low_s8(a), vget_low_s8(w)), a, w);
    return (Ints)vpadalq_s16((int32x4_t)sum, products);
  }
};

struct Int8 : Codes<PairsStep> {
  using Positive = Int8;

  static size_t place(int k, int n, int width) {
    return (static_cast<size_t>(k / 4) * width + n / 4 * 4) * 4 + k % 4 / 2 * 8 + n % 4 * 2 + k % 2;
  }

  // Put four inputs of each of LANES outputs into a panel: two of each, then the other two.
  static void put(Floats quads, int8_t* to, int) {
    const auto pairs = (int16x8_t)quads;
    vst1q_s16(reinterpret_cast<int16_t*>(to), vcombine_s16(vget_low_s16(vuzp1q_s16(pairs, pairs)),
                                                           vget_low_s16(vuzp2q_s16(pairs, pairs))));
  }
};

#endif

#endif
