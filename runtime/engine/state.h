// The state of a decoder layer between the steps of a search.
#pragma once

#include <cstring>
#include <vector>

#include "buffer.h"

struct State {
  Buffer<float> cells;    // of an SSRU: (rows, d)
  Buffer<float> entries;  // of self-attention: keys and values, (entries, width); numbered by `History`
  int width = 0;

  // Set the first `count` cells to zero.
  void start(size_t count) {
    if (count) std::memset(cells.room(count), 0, sizeof(float) * count);
  }

  void move_entry(int32_t from, int32_t to) {
    float* all = entries.data();
    std::memcpy(all + static_cast<size_t>(to) * width, all + static_cast<size_t>(from) * width, sizeof(float) * width);
  }

  // Row i becomes a copy of row from[i].
  void select_cells(const std::vector<int>& from, int d) {
    float* to = spare_.room(from.size() * d);
    for (size_t i = 0; i < from.size(); ++i)
      std::memcpy(to + i * d, cells.data() + static_cast<size_t>(from[i]) * d, sizeof(float) * d);
    std::swap(cells, spare_);
  }

 private:
  Buffer<float> spare_;
};
