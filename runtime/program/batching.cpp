#include "batching.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace {

constexpr int SIZES[] = {8, 12, 16, 24, 32, 48, 64, 96, 128};
constexpr int LARGEST = 128;
constexpr size_t SEGMENT = 512;  // sentences of similar length for which one batch size is chosen
constexpr int64_t SHARED = 2;    // fixed cost of a step, in rows
constexpr int64_t GATHER = 25;   // cost of gathering a column, in rows multiplied by it

// Multiplications of one step of one row through all layers.
int64_t row_cost(const Architecture& architecture) {
  const int64_t width = architecture.embedding;
  int64_t sum = 0;
  for (const LayerShape& layer : architecture.decoder)
    sum += 2 * width * (layer.heads * layer.head_size + layer.feed_forward) +
           (architecture.recurrent ? 2 * width * width : 4 * width * layer.self_heads * layer.head_size);
  return sum * architecture.decoder_depth / static_cast<int64_t>(architecture.decoder.size());
}

// Return the batch size with the lowest cost per piece, for sources from the middle of `places`, longest first.
int best_size(const Sources& sources, const std::vector<int>& places, const Architecture& architecture,
              const Shortlist* shortlist) {
  const size_t first = places.size() > LARGEST ? (places.size() - LARGEST) / 2 : 0;
  const size_t count = std::min<size_t>(LARGEST, places.size() - first);
  const int64_t row = row_cost(architecture), column = architecture.embedding;
  const int64_t longest = static_cast<int64_t>(sources[places[first]].size());
  std::optional<Shortlist::Chosen> chosen;
  if (shortlist) chosen.emplace(*shortlist);
  std::vector<double> costs;  // per piece, of the first one, two, three … sources
  int64_t steps = 0;
  for (size_t i = 0; i < count; ++i) {
    const std::vector<int32_t>& source = sources[places[first + i]];
    steps += static_cast<int64_t>(source.size());
    if (chosen) chosen->add(source);
    const int64_t columns = chosen ? chosen->count() : 0;
    const int64_t cost = (steps + SHARED * longest) * (row + column * columns) + GATHER * column * columns;
    costs.push_back(static_cast<double>(cost) / static_cast<double>(steps));
  }
  int best = 0;
  for (const int size : SIZES)
    if (size <= static_cast<int>(count) && (!best || costs[size - 1] < costs[best - 1])) best = size;
  return best ? best : static_cast<int>(count);
}

}  // namespace

Batches length_sorted_batches(const Sources& sources, std::vector<int> places, int64_t size, int64_t pieces) {
  std::stable_sort(places.begin(), places.end(), [&](int a, int b) { return sources[a].size() > sources[b].size(); });
  Batches batches;
  int64_t room = 0;  // sentences that still fit into the last batch
  for (const int place : places) {
    const int64_t length = static_cast<int64_t>(sources[place].size()) - 1;
    if (!length) break;
    if (!room) {
      batches.emplace_back();
      room = std::max<int64_t>(1, std::min(size, pieces / length));
    }
    batches.back().push_back(place);
    --room;
  }
  return batches;
}

Batches best_batches(const Sources& sources, const Architecture& architecture, const Shortlist* shortlist,
                     int64_t pieces) {
  std::vector<int> all(sources.size());
  std::iota(all.begin(), all.end(), 0);
  constexpr int64_t ANY = std::numeric_limits<int64_t>::max();
  const Batches sorted = length_sorted_batches(sources, all, ANY, ANY);
  Batches cut;
  if (sorted.empty()) return cut;
  const std::vector<int>& order = sorted[0];
  for (size_t begin = 0; begin < order.size(); begin += SEGMENT) {
    const std::vector<int> segment(order.begin() + begin, order.begin() + std::min(begin + SEGMENT, order.size()));
    const int size = best_size(sources, segment, architecture, shortlist);
    for (auto& batch : length_sorted_batches(sources, segment, size, pieces)) cut.push_back(std::move(batch));
  }
  return cut;
}
