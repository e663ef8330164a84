// Greedy search: choose the most probable piece at each step, within the output product.
#pragma once

#include <cmath>

#include "network.h"

// The largest output of a row so far, and its column; of equal outputs, the first.
struct Best {
  float output = -INFINITY;
  int32_t column = 0;

  // Take LANES columns from n on, at least one of which is larger.
  __attribute__((noinline)) void take(int n, Floats y) {
    for (int lane = 0; lane < LANES; ++lane)
      if (y[lane] > output) output = y[lane], column = n + lane;
  }
};

// Find the column of each row's largest output.  Few columns exceed all before them, so most cost one comparison.
template <class P>
void most_probable(const Linear<P>& output, const typename P::Value* values, int rows, std::vector<Best>& found) {
  found.assign(rows, Best());
  Best* best = found.data();
  output(values, rows, [=](int m, int n, Floats y) INLINE {
    if (any_above(y, best[m].output)) [[unlikely]]
      best[m].take(n, y);
  });
}

constexpr int END = 0, UNKNOWN = 1;  // always the first two columns

// Return the pieces of each sentence's translation, without its end.  columns: the piece of each output column.
// limits: maximal number of pieces, including the end.  unknown: whether the unknown piece may be chosen.
template <class P>
std::vector<std::vector<int32_t>> greedy(Network<P>& network, const std::vector<int32_t>& columns,
                                         const std::vector<int>& limits, bool unknown) {
  if (!unknown) network.output.forbid(UNKNOWN);
  const int count = network.rows();
  std::vector<std::vector<int32_t>> translations(count);
  std::vector<int> sentence(count), kept;
  for (int b = 0; b < count; ++b) sentence[b] = b;
  std::vector<int32_t> pieces(count, START);
  std::vector<Best> best;
  for (int length = 1; !sentence.empty(); ++length) {
    const auto* values = network.step(pieces.data());
    most_probable(network.output, values, network.rows(), best);
    kept.clear();
    for (int m = 0; m < network.rows(); ++m) {
      const int32_t column = best[m].column, piece = columns[column];
      const int b = sentence[m];
      if (column == END || length >= limits[b]) continue;
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
