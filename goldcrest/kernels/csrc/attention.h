// Attention of a few queries over the keys and values of one sentence and one head, computed in float32:
//
//     out[q] = Σⱼ softmaxⱼ(query[q]·key[j] / √k)·value[j]
//
// Where many queries look at the same memory, keys lie transposed, keys[c][j] with j padded to VECTOR, so that scores
// of LANES keys are computed at once, and behind them the values, values[j][c]: what is read lies in one piece.  c
// counts the head's numbers, padded with zeros to VECTOR.  What a decoder has written so far is looked up entry by
// entry instead.
//
// A decoder reads the memory of all its sentences at every step, from beyond the near caches: it may be kept in half as
// many bytes (T = Word), as whole numbers of a step for the keys and one for the values of a sentence and head.  They
// are floats again as they are loaded, and the steps are factors of scores and of what is mixed.  float16 takes as much,
// and made more than twice as many translations of real text differ from those in float32.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "tiles.h"

template <class T>
struct Memory {
  const T* keys;    // (head, padded), zeros beyond length
  const T* values;  // (length, head)
  int length, padded;
  float key_step = 1, value_step = 1;

  // What lies at a place: keys, then values.
  Memory(const T* at, int length, int head) : keys(at), length(length), padded(round_up(length, VECTOR)) {
    if constexpr (STEPS) {
      std::memcpy(&key_step, at, sizeof(float));
      std::memcpy(&value_step, at + sizeof(float) / sizeof(T), sizeof(float));
      keys += head;
    }
    values = keys + static_cast<size_t>(head) * padded;
  }

  // What it takes of numbers, in proportion to the head's.
  static size_t size(int length, int head) {
    return static_cast<size_t>(head) * (STEPS + round_up(length, VECTOR) + length);
  }

  static constexpr int STEPS = std::is_same_v<T, Word>;  // rows above the keys; the first numbers are the steps
};

// By which the largest of `length` rows is Word::LARGEST.
inline float step_of(const float* rows, int stride, int length, int head) {
  Floats most = {};
  for (int j = 0; j < length; ++j, rows += stride)
    for (int c = 0; c < head; c += LANES) most = maximum(most, magnitude(load(rows + c)));
  const float peak = largest(most);
  return peak > 0 ? peak / Word::LARGEST : 1;
}

// `length` rows of keys and of values, `stride` numbers apart, are laid out at a place.
template <class T>
inline Memory<T> lay_out(const float* keys, const float* values, int stride, int length, int head, T* at) {
  if constexpr (Memory<T>::STEPS) {
    const float steps[] = {step_of(keys, stride, length, head), step_of(values, stride, length, head)};
    std::memcpy(at, steps, sizeof steps);
  }
  const Memory<T> memory(at, length, head);
  const float per_key = 1 / memory.key_step, per_value = 1 / memory.value_step;
  T* to = at + Memory<T>::STEPS * head;
  for (int j = 0; j < memory.padded; j += LANES)
    for (int c = 0; c < head; c += LANES) {
      const auto key = [=](int i) {
        return j + i < length ? load(keys + static_cast<size_t>(j + i) * stride + c) * per_key : Floats{};
      };
      store_transposed(key, to + static_cast<size_t>(c) * memory.padded + j, memory.padded);
    }
  to += static_cast<size_t>(head) * memory.padded;
  for (int j = 0; j < length; ++j, to += head)
    for (int c = 0; c < head; c += LANES) store(to + c, load(values + static_cast<size_t>(j) * stride + c) * per_value);
  return memory;
}

// weights[r][j] ← e^(weights[r][j] − the largest of most[r]); share[r] ← 1 / their sum.
template <int R>
INLINE inline void exponentiate(float* weights, int padded, const Floats* most, float* share) {
  float peak[R];
  Floats total[R] = {};
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) peak[r] = largest(most[r]);
  for (int j = 0; j < padded; j += LANES)
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      float* at = weights + r * padded + j;
      const Floats weight = exponential(load(at) - peak[r]);
      total[r] += weight;
      store(at, weight);
    }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) share[r] = 1.0f / sum(total[r]);
}

// LANES of R·V sums, in PARTS that are added up at last: a processor adds to one only every few cycles, but to eight
// at a time.
template <int R, int V>
struct Sums {
  static constexpr int PARTS = std::max(1, 8 / (R * V));
  Floats part[PARTS][R][V] = {};

  template <class Emit>
  INLINE void give(Emit emit) const {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) {
        Floats sum = part[0][r][v];
#pragma GCC unroll 8
        for (int p = 1; p < PARTS; ++p) sum += part[p][r][v];
        emit(r, v, sum);
      }
  }
};

// score(r, v, LANES of query[r]·key[j]), V of them, where keys[c] lie `key_stride` apart.
template <int R, int V, class T, class Score>
INLINE inline void score_keys(const float* queries, int stride, const T* keys, int key_stride, int head,
                              Score score) {
  Sums<R, V> sums;
  for (int c = 0; c < head; c += sums.PARTS)
#pragma GCC unroll 8
    for (int p = 0; p < sums.PARTS; ++p) {
      const T* key = keys + static_cast<size_t>(c + p) * key_stride;
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
        for (int v = 0; v < V; ++v)
          sums.part[p][r][v] += queries[static_cast<size_t>(r) * stride + c + p] * load(key + v * LANES);
    }
  sums.give(score);
}

// mixed(r, v, LANES of Σⱼ weights[r][j]·value(j)), V of them; the weights' rows lie `padded` apart.
template <int R, int V, class Value, class Mixed>
INLINE inline void mix_values(const float* weights, int padded, Value value, int length, Mixed mixed) {
  Sums<R, V> sums;
  const auto add = [&](int p, int j) INLINE {
    const auto* from = value(j);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) sums.part[p][r][v] += weights[r * padded + j] * load(from + v * LANES);
  };
  int j = 0;
  for (; j + sums.PARTS <= length; j += sums.PARTS)
#pragma GCC unroll 8
    for (int p = 0; p < sums.PARTS; ++p) add(p, j + p);
  for (; j < length; ++j) add(0, j);
  sums.give(mixed);
}

// step<V>(first) for all of so many numbers, WIDE vectors of LANES at a time, and for the last of them two and one.
template <int WIDE, class Step>
INLINE inline void in_vectors(int numbers, Step step) {
  int at = 0;
  for (; at + WIDE * LANES <= numbers; at += WIDE * LANES) step.template operator()<WIDE>(at);
  if constexpr (WIDE > 2)
    if (at + 2 * LANES <= numbers) step.template operator()<2>(at), at += 2 * LANES;
  if constexpr (WIDE > 1)
    if (at < numbers) step.template operator()<1>(at);
}

// R queries, `stride` numbers apart.  head: numbers with padding; scale: 1/√k of the head without.
// emit(r, c, LANES of out[r] from c).  weights: room for R × length, padded to VECTOR.
template <int R, class T, class Emit>
inline void attend(const float* queries, int stride, const Memory<T>& memory, int head, float scale, float* weights,
                   Emit&& emit) {
  const int padded = memory.padded;
  scale *= memory.key_step;
  Floats most[R];
  float share[R];
  for (int r = 0; r < R; ++r) most[r] = all(-INFINITY);
  const auto score = [&]<int V>(int j) INLINE {
    score_keys<R, V>(queries, stride, memory.keys + j, padded, head, [&](int r, int v, Floats sum) INLINE {
      const int first = j + v * LANES;
      const Floats found = lanes() + first < memory.length ? sum * scale : all(-INFINITY);
      most[r] = maximum(most[r], found);
      store(weights + r * padded + first, found);
    });
  };
  const auto mix = [&]<int V>(int c) INLINE {
    const T* values = memory.values + c;
    mix_values<R, V>(
        weights, padded, [=](int j) INLINE { return values + static_cast<size_t>(j) * head; }, memory.length,
        [&](int r, int v, Floats sum) INLINE { emit(r, c + v * LANES, sum * share[r]); });
  };
  constexpr int WIDE = R > 4 ? 1 : R > 2 ? 2 : 4;
  in_vectors<WIDE>(padded, score);
  exponentiate<R>(weights, padded, most, share);
  for (int r = 0; r < R; ++r) share[r] *= memory.value_step;
  in_vectors<WIDE>(head, mix);
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
  float share;
  exponentiate<1>(weights, padded, &most, &share);
  in_vectors<4>(head, [&]<int V>(int c) INLINE {  // so that a value is read in one piece
    mix_values<1, V>(
        weights, padded, [=](int j) INLINE { return values + entries[j] * value_stride + c; }, length,
        [&](int, int v, Floats sum) INLINE { emit(c + v * LANES, sum * share); });
  });
}
