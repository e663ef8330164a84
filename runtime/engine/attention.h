// Attention of a few queries over the keys and values of one sentence and one head, computed in float32:
//
//     out[q] = Σⱼ softmaxⱼ(query[q]·key[j] / √k)·value[j]
//
// If many queries read the same memory, the keys are stored transposed, as keys[c][j] with j padded to VECTOR, so that
// the scores of LANES keys are computed at once.  The values follow as values[j][c].  All reads are therefore
// contiguous.  c is the index within the head, padded with zeros to VECTOR.  The entries that a decoder has written so
// far are looked up one by one instead.
//
// A decoder reads the memory of all its sentences at every step, and this memory is too large for the near caches.  It
// can therefore be stored in half as many bytes (T = Word): as whole numbers with a step size for each key and each
// value, where the largest magnitude is Word::LARGEST.  Loading converts them back to floats, and the steps are
// multiplied into scores and weights.  PyTorch rounds the memory of an int8 student in the same way
// (translation/layers.py), so both translate alike.
#pragma once

#include <algorithm>
#include <type_traits>

#include "tiles.h"

template <class T>
struct Memory {
  const T* keys;    // (head, padded), zeros beyond length
  const T* values;  // (length, head)
  int length, padded;
  const float *key_steps = nullptr, *value_steps = nullptr;  // (padded), only if T is Word; zeros beyond length

  // Divide the block at `at` into steps, keys and values.
  Memory(const T* at, int length, int head) : length(length), padded(round_up(length, VECTOR)) {
    if constexpr (STEPS) {
      key_steps = reinterpret_cast<const float*>(at);
      value_steps = key_steps + padded;
    }
    keys = at + steps_size(padded, head);
    values = keys + static_cast<size_t>(head) * padded;
  }

  // Size of the block, in numbers of type T; proportional to the head's size.
  static size_t size(int length, int head) {
    const int padded = round_up(length, VECTOR);
    return steps_size(padded, head) + static_cast<size_t>(head) * (padded + length);
  }

  static constexpr bool STEPS = std::is_same_v<T, Word>;

 private:
  // Room for two floats for each position; it suffices because a head has at least VECTOR numbers.
  static size_t steps_size(int padded, int head) { return STEPS ? static_cast<size_t>(head) * (padded / 4) : 0; }
  static_assert(VECTOR / 4 * sizeof(T) >= 2 * sizeof(float));
};

// Number of steps in 1, if the largest magnitude of the head's numbers is Word::LARGEST steps.
inline float steps_in_one(const float* numbers, int head) {
  Floats most = {};
  for (int c = 0; c < head; c += LANES) most = maximum(most, magnitude(load(numbers + c)));
  return Word::LARGEST / std::max(largest(most), Word::LEAST);
}

// Store `length` rows of keys and of values, `stride` numbers apart, in the block at `at`.
template <class T>
inline Memory<T> lay_out(const float* keys, const float* values, int stride, int length, int head, T* at) {
  const Memory<T> memory(at, length, head);
  T *key_to = at + (memory.keys - at), *value_to = at + (memory.values - at);
  float *key_steps = reinterpret_cast<float*>(at), *value_steps = key_steps + memory.padded;  // only if T is Word
  // LANES numbers of a position, in units of its step if there is one.
  const auto number = [=](const float* from, float steps) {
    return Memory<T>::STEPS ? load(from) * steps : load(from);
  };
  for (int j = 0; j < memory.padded; j += LANES) {
    float steps[LANES] = {};
    if constexpr (Memory<T>::STEPS) {
      Floats step = {};
      for (int i = 0; i < LANES && j + i < length; ++i) {
        steps[i] = steps_in_one(keys + static_cast<size_t>(j + i) * stride, head);
        step[i] = 1 / steps[i];
      }
      store(key_steps + j, step);
    }
    for (int c = 0; c < head; c += LANES) {
      const auto key = [&](int i) {
        return j + i < length ? number(keys + static_cast<size_t>(j + i) * stride + c, steps[i]) : Floats{};
      };
      store_transposed(key, key_to + static_cast<size_t>(c) * memory.padded + j, memory.padded);
    }
  }
  if constexpr (Memory<T>::STEPS) std::fill_n(value_steps, memory.padded, 0.0f);
  for (int j = 0; j < length; ++j, values += stride, value_to += head) {
    float steps = 1;
    if constexpr (Memory<T>::STEPS) {
      steps = steps_in_one(values, head);
      value_steps[j] = 1 / steps;
    }
    for (int c = 0; c < head; c += LANES) store(value_to + c, number(values + c, steps));
  }
  return memory;
}

// weights[r][j] ← e^(weights[r][j] − the largest of most[r]), times factors[j] if there are factors.  share[r] ← 1 /
// the sum of the exponentials without the factors.
template <int R, bool FACTORS = false>
INLINE inline void exponentiate(float* weights, int padded, const Floats* most, float* share,
                                const float* factors = nullptr) {
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
      store(at, FACTORS ? weight * load(factors + j) : weight);
    }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) share[r] = 1.0f / sum(total[r]);
}

// LANES of R·V sums, each kept in PARTS partial sums that `give` adds.  A processor takes several cycles for an
// addition but can start several of them in each, so eight independent sums keep it busy.
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

// Call score(r, v, LANES of query[r]·key[j]) for V vectors of keys; keys[c] are `key_stride` apart.
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

// Call mixed(r, v, LANES of Σⱼ weights[r][j]·value(j)) for V vectors; the rows of the weights are `padded` apart.
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

// Call step<V>(first) for all `numbers`: WIDE vectors of LANES at a time, then two, then one for the rest.
template <int WIDE, class Step>
INLINE inline void in_vectors(int numbers, Step step) {
  int at = 0;
  for (; at + WIDE * LANES <= numbers; at += WIDE * LANES) step.template operator()<WIDE>(at);
  if constexpr (WIDE > 2)
    if (at + 2 * LANES <= numbers) step.template operator()<2>(at), at += 2 * LANES;
  if constexpr (WIDE > 1)
    if (at < numbers) step.template operator()<1>(at);
}

// R queries, `stride` numbers apart, attend to the memory.  Calls emit(r, c, LANES of out[r] from c).
// head: numbers of a head with padding.  scale: 1/√k, where k counts no padding.  weights: room for R × length, padded
// to VECTOR.  CAUSAL: the last query sees the first `length` keys, and each query before it one key less.
template <int R, bool CAUSAL = false, class T, class Emit>
inline void attend(const float* queries, int stride, const Memory<T>& memory, int head, float scale, float* weights,
                   Emit&& emit) {
  const int padded = round_up(memory.length, VECTOR);  // less than memory.padded if only the first keys are visible
  Floats most[R];
  float share[R];
  for (int r = 0; r < R; ++r) most[r] = all(-INFINITY);
  const auto score = [&]<int V>(int j) INLINE {
    score_keys<R, V>(queries, stride, memory.keys + j, memory.padded, head, [&](int r, int v, Floats sum) INLINE {
      const int first = j + v * LANES;
      const Floats factor = Memory<T>::STEPS ? scale * load(memory.key_steps + first) : all(scale);
      const int seen = memory.length - (CAUSAL ? R - 1 - r : 0);
      const Floats found = lanes() + first < seen ? sum * factor : all(-INFINITY);
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
  exponentiate<R, Memory<T>::STEPS>(weights, padded, most, share, memory.value_steps);
  in_vectors<WIDE>(head, mix);
}

// One query attends to entries in any order: entry j has its key at keys + entries[j]·key_stride and its value at
// values + entries[j]·value_stride.  Calls emit(c, LANES of out from c).
// weights: room for `length`, padded to VECTOR.  added: numbers to add to the scores, (padded), or null.
template <class Emit>
inline void attend_entries(const float* query, const float* keys, size_t key_stride, const float* values,
                           size_t value_stride, const int32_t* entries, int length, int head, float scale,
                           float* weights, Emit&& emit, const float* added = nullptr) {
  const int padded = round_up(length, VECTOR);
  Floats most = all(-INFINITY);
  for (int j = 0; j < padded; j += LANES) {
    Floats products[LANES];  // of one key each; their sums are the scores
    for (int i = 0; i < LANES; ++i) {
      const float* key = keys + entries[std::min(j + i, length - 1)] * key_stride;
      products[i] = load(query) * load(key);
      for (int c = LANES; c < head; c += LANES) products[i] += load(query + c) * load(key + c);
    }
    Floats score = sums(products) * scale;
    if (added) score += load(added + j);
    score = lanes() + j < length ? score : all(-INFINITY);
    most = maximum(most, score);
    store(weights + j, score);
  }
  float share;
  exponentiate<1>(weights, padded, &most, &share);
  in_vectors<4>(head, [&]<int V>(int c) INLINE {  // wide vectors, so that each value is read contiguously
    mix_values<1, V>(
        weights, padded, [=](int j) INLINE { return values + entries[j] * value_stride + c; }, length,
        [&](int, int v, Floats sum) INLINE { emit(c + v * LANES, sum * share); });
  });
}
