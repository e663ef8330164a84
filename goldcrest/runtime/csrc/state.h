// What a decoder layer remembers of each row between the steps of a search.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "buffer.h"
#include "product_int8.h"

struct State {
  Buffer<float> cells;         // of an SSRU: (rows, d)
  Buffer<float> keys, values;  // of self-attention: (rows, width, capacity) and (rows, capacity, width)
  int width = 0, capacity = 0;

  // No positions yet; `count` cells of zero.
  void start(size_t count) {
    if (count) std::memset(cells.room(count), 0, sizeof(float) * count);
    capacity = 0;
  }

  // Row i goes on where row from[i] stood.
  void select_cells(const std::vector<int>& from, int d) { select(from, d, cells); }
  void select_positions(const std::vector<int>& from) {
    const size_t size = static_cast<size_t>(width) * capacity;
    select(from, size, keys);
    select(from, size, values);
  }

  // Make room for the keys and values of `position` in each row.
  void room(int rows, int row_width, int position) {
    if (position < capacity || !row_width) return;  // no width: no heads
    const int before = capacity;
    width = row_width;
    capacity = std::max(2 * VECTOR, 2 * before);
    const size_t size = static_cast<size_t>(width) * capacity, old = static_cast<size_t>(width) * before;
    float *k = spare_.room(rows * size), *v = other_.room(rows * size);
    std::memset(k, 0, sizeof(float) * rows * size);  // attention reads, and masks, what is not yet written
    for (int m = 0; m < rows && before; ++m) {
      for (int c = 0; c < width; ++c)
        std::memcpy(k + m * size + static_cast<size_t>(c) * capacity, keys.data() + m * old + static_cast<size_t>(c) * before,
                    sizeof(float) * before);
      std::memcpy(v + m * size, values.data() + m * old, sizeof(float) * old);
    }
    std::swap(keys, spare_);
    std::swap(values, other_);
  }

 private:
  void select(const std::vector<int>& from, size_t size, Buffer<float>& rows) {
    if (!size) return;
    float* to = spare_.room(from.size() * size);
    for (size_t i = 0; i < from.size(); ++i)
      std::memcpy(to + i * size, rows.data() + static_cast<size_t>(from[i]) * size, sizeof(float) * size);
    std::swap(rows, spare_);
  }

  Buffer<float> spare_, other_;
};
