// The outputs of a decoder's linear maps, and the numbers of single heads in them.
#pragma once

#include "decoder.h"

namespace decoder {

constexpr int TOGETHER = 4;  // queries that read the same keys together, at most

struct Token {  // that is being computed
  int row, length;  // tokens of the row up to this one
};

struct Numbers {  // rows, `stride` apart
  float* at;
  int stride;
};

inline Numbers apply(const Map& map, const float* x, int count, Buffer<float>& room) {
  const int stride = map.linear->padded();
  float* y = room.room(static_cast<size_t>(count) * stride);
  (*map.linear)(x, count, map.bias, map.scale, map.kind, y);
  return {y, stride};
}

// Copy a head of a row, with zeros up to its padded size.
inline void copy_head(const Numbers& from, int row, int head, const Attention& attention, float* to) {
  const float* at = from.at + static_cast<size_t>(row) * from.stride + head * attention.size;
  std::copy_n(at, attention.size, to);
  std::fill(to + attention.size, to + attention.padded(), 0.0f);
}

// Store the first `count` of LANES numbers, or all if there are fewer.
inline void put(float* to, Floats y, int count) {
  if (count >= LANES) return store(to, y);
  for (int i = 0; i < count; ++i) to[i] = y[i];
}

}  // namespace decoder
