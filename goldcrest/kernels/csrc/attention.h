// Attention of a few queries over the keys and values of one sentence and one head, in float32 throughout:
//
//     out[q] = Σⱼ softmaxⱼ(query[q]·key[j] / √k)·value[j]
//
// Where many queries look at the same memory, keys lie transposed, keys[c][j] with j padded to VECTOR, so that scores
// of LANES keys are computed at once; values lie as the product wrote them, values[j][c].  c counts the head's
// numbers, padded with zeros to VECTOR.  What a decoder has written so far is looked up entry by entry instead.
#pragma once

#include <algorithm>

#include "product_int8.h"
#include "simd.h"

struct Memory {
  const float* keys;    // (head, key_stride), with zeros or older keys beyond length
  int key_stride;       // a multiple of VECTOR
  const float* values;  // (length, value_stride)
  int value_stride;
  int length;
};

// keys[c][j] of `length` rows of keys, `stride` numbers apart; zeros fill up to key_stride.
inline void transpose_keys(const float* rows, int stride, int length, int head, float* keys, int key_stride) {
  for (int j = 0; j < key_stride; j += LANES)
    for (int c = 0; c < head; c += LANES) {
      Floats tile[LANES];
      for (int i = 0; i < LANES; ++i)
        tile[i] = j + i < length ? load(rows + static_cast<size_t>(j + i) * stride + c) : Floats{};
      transpose(tile);
      for (int i = 0; i < LANES; ++i) store(keys + static_cast<size_t>(c + i) * key_stride + j, tile[i]);
    }
}

// weights[j] ← e^(weights[j] − peak); 1 / their sum.
inline float exponentiate(float* weights, int padded, float peak) {
  Floats total = {};
  for (int j = 0; j < padded; j += LANES) {
    const Floats weight = exponential(load(weights + j) - peak);
    total += weight;
    store(weights + j, weight);
  }
  return 1.0f / sum(total);
}

// R queries, `stride` numbers apart.  head: numbers with padding; scale: 1/√k of the head without.
// emit(r, c, LANES of out[r] from c).  weights: room for R × length, padded to VECTOR.
template <int R, class Emit>
inline void attend(const float* queries, int stride, const Memory& memory, int head, float scale, float* weights,
                   Emit&& emit) {
  const int padded = round_up(memory.length, VECTOR);
  Floats most[R];
  for (int r = 0; r < R; ++r) most[r] = all(-INFINITY);
  for (int j = 0; j < padded; j += LANES) {
    Floats score[R];
    for (int r = 0; r < R; ++r) score[r] = Floats{};
    for (int c = 0; c < head; ++c) {
      const Floats key = load(memory.keys + static_cast<size_t>(c) * memory.key_stride + j);
      for (int r = 0; r < R; ++r) score[r] += queries[static_cast<size_t>(r) * stride + c] * key;
    }
    const Ints real = lanes() + j < memory.length;
    for (int r = 0; r < R; ++r) {
      score[r] = real ? score[r] * scale : all(-INFINITY);
      most[r] = maximum(most[r], score[r]);
      store(weights + r * padded + j, score[r]);
    }
  }
  Floats mixture[R];
  float share[R];
  for (int r = 0; r < R; ++r) share[r] = exponentiate(weights + r * padded, padded, largest(most[r]));
  for (int c = 0; c < head; c += LANES) {
    for (int r = 0; r < R; ++r) mixture[r] = Floats{};
    for (int j = 0; j < memory.length; ++j) {
      const Floats value = load(memory.values + static_cast<size_t>(j) * memory.value_stride + c);
      for (int r = 0; r < R; ++r) mixture[r] += weights[r * padded + j] * value;
    }
    for (int r = 0; r < R; ++r) emit(r, c, mixture[r] * share[r]);
  }
}

// One query over entries in any order: entry j has its key at keys + entries[j]·key_stride, its value at
// values + entries[j]·value_stride.  emit(c, LANES of out from c).  weights: room for `length`, padded to VECTOR.
template <class Emit>
inline void attend_entries(const float* query, const float* keys, size_t key_stride, const float* values,
                           size_t value_stride, const int32_t* entries, int length, int head, float scale,
                           float* weights, Emit&& emit) {
  const int padded = round_up(length, VECTOR);
  Floats most = all(-INFINITY);
  for (int j = 0; j < padded; j += LANES) {
    Floats products[LANES];  // of one key each; their sums are the scores
    for (int i = 0; i < LANES; ++i) {
      const float* key = keys + entries[std::min(j + i, length - 1)] * key_stride;
      products[i] = load(query) * load(key);
      for (int c = LANES; c < head; c += LANES) products[i] += load(query + c) * load(key + c);
    }
    const Floats score = lanes() + j < length ? sums(products) * scale : all(-INFINITY);
    most = maximum(most, score);
    store(weights + j, score);
  }
  const float share = exponentiate(weights, padded, largest(most));
  constexpr int WIDE = 4;  // vectors that are mixed together, so that a value is read in one piece
  int c = 0;
  for (; c + WIDE * LANES <= head; c += WIDE * LANES) {
    Floats mixture[WIDE] = {};
    for (int j = 0; j < length; ++j)
      for (int v = 0; v < WIDE; ++v) mixture[v] += weights[j] * load(values + entries[j] * value_stride + c + v * LANES);
    for (int v = 0; v < WIDE; ++v) emit(c + v * LANES, mixture[v] * share);
  }
  for (; c < head; c += LANES) {
    Floats mixture = {};
    for (int j = 0; j < length; ++j) mixture += weights[j] * load(values + entries[j] * value_stride + c);
    emit(c, mixture * share);
  }
}
