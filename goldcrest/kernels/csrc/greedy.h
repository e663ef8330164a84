// Greedy search: the most probable piece at each step, its search fused with the output product.
#pragma once

#include <cmath>

#include "network.h"

// For each row the column of the largest output, the first of equal ones.  best, where: room for rows × LANES.
template <class P>
void most_probable(const Linear<P>& output, const typename P::Value* values, int rows, Buffer<float>& best_room,
                   Buffer<int32_t>& where_room, std::vector<int32_t>& columns) {
  float* best = best_room.room(static_cast<size_t>(rows) * LANES);
  int32_t* where = where_room.room(static_cast<size_t>(rows) * LANES);
  std::fill(best, best + static_cast<size_t>(rows) * LANES, -INFINITY);
  std::fill(where, where + static_cast<size_t>(rows) * LANES, 0);
  output(values, rows, [=](int m, int n, Floats y) INLINE {
    const Floats before = load(best + m * LANES);
    const Ints larger = y > before;  // an earlier equal one stays
    store(best + m * LANES, maximum(y, before));
    store(where + m * LANES, larger ? all(n) : load(where + m * LANES));
  });
  columns.resize(rows);
  for (int m = 0; m < rows; ++m) {
    int lane = 0, column = where[m * LANES];
    for (int other = 1; other < LANES; ++other) {
      const float a = best[m * LANES + other], b = best[m * LANES + lane];
      const int candidate = where[m * LANES + other] + other;
      if (a > b || (a == b && candidate < column)) lane = other, column = candidate;
    }
    columns[m] = column;
  }
}

constexpr int END = 0, UNKNOWN = 1;  // the first two columns, always

// The pieces of each sentence's translation without its end.  columns: the piece of each output column;
// limits: pieces at most, the end counted; unknown: whether that piece may be chosen.
template <class P>
std::vector<std::vector<int32_t>> greedy(Network<P>& network, const std::vector<int32_t>& columns,
                                         const std::vector<int>& limits, bool unknown) {
  if (!unknown) network.output.forbid(UNKNOWN);
  const int count = network.rows();
  std::vector<std::vector<int32_t>> translations(count);
  std::vector<int> sentence(count), kept;
  for (int b = 0; b < count; ++b) sentence[b] = b;
  std::vector<int32_t> pieces(count, START), chosen;
  Buffer<float> best;
  Buffer<int32_t> where;
  for (int length = 1; !sentence.empty(); ++length) {
    const auto* values = network.step(pieces.data());
    most_probable(network.output, values, network.rows(), best, where, chosen);
    kept.clear();
    for (int m = 0; m < network.rows(); ++m) {
      const int32_t piece = columns[chosen[m]];
      const int b = sentence[m];
      if (chosen[m] == END || length >= limits[b]) continue;
      translations[b].push_back(piece);
      pieces[kept.size()] = piece;
      sentence[kept.size()] = b;
      kept.push_back(m);
    }
    if (kept.size() < sentence.size()) {
      sentence.resize(kept.size());
      network.select(kept);
    }
  }
  if (!unknown) network.output.allow(UNKNOWN);
  return translations;
}
