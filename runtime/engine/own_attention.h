// Self-attention of a decoder: the keys and values of past tokens, and which of them each row reads.
#pragma once

#include "projected.h"

namespace decoder {

class OwnAttention {
 public:
  // rows: number of texts, all empty.  expected: entries to make room for.
  void start(const Parts& parts, int rows, int expected) {
    parts_ = &parts;
    history_.start(rows);
    expected_ = expected;
    own_.clear();
    own_.resize(parts.layers.size());
  }

  // Make room for counts[m] new tokens of each row, `total` in all; return the entry of the first.
  int32_t add(const std::vector<int>& counts, int total) {
    const int32_t first = history_.add(
        [this](int32_t from, int32_t to) {
          for (auto& [keys, values] : own_) keys.move(from, to), values.move(from, to);
        },
        counts.data());
    make_room(first + total);
    return first;
  }

  int length(int row) const { return static_cast<int>(history_.of(row).size()); }  // number of tokens of a row

  // Row i becomes a copy of row from[i].
  void select(const std::vector<int>& from) { history_.select(from); }

  // Prepare the rotary positions of `count` tokens, before the layers.
  void turn(const Token* tokens, int count) {
    if (parts_->rotary) turns_.start(parts_->rotary, count, [=](int i) { return tokens[i].length - 1; });
  }

  // Attend from each token to the tokens of its row up to itself; returns (count, heads·size).
  const float* operator()(int layer, const float* x, const Token* tokens, int count, int32_t entry) {
    const Attention& self = parts_->layers[layer].self;
    const KeysAndValues& own = own_[layer];
    const int maps = static_cast<int>(self.maps.size());
    Numbers found[3];
    for (int p = 0; p < maps; ++p) found[p] = apply(self.maps[p], x, count, projected_[p]);
    for (int p = maps; p < 3; ++p) found[p] = {found[0].at + p * self.heads * self.size, found[0].stride};
    place(self, self.query_norm, self.heads, found[0], count);
    place(self, self.key_norm, self.keys(), found[1], count);
    const int head = self.padded();
    float* mixed = mixed_.room(static_cast<size_t>(count) * self.heads * self.size);
    int longest = 0;
    for (int i = 0; i < count; ++i) {
      longest = std::max(longest, tokens[i].length);
      for (int k = 0; k < self.keys(); ++k) {
        const size_t at = static_cast<size_t>(entry + i) * head;
        copy_head(found[1], i, k, self, own.keys.of(k) + at);
        copy_head(found[2], i, k, self, own.values.of(k) + at);
      }
    }
    weights_.room(static_cast<size_t>(TOGETHER) * round_up(longest, VECTOR));
    query_.room(static_cast<size_t>(TOGETHER) * head);
    for (int k = 0; k < self.keys(); ++k)
      for (int i = 0, next; i < count; i = next) {
        next = i + 1;
        while (next < count && tokens[next].row == tokens[i].row) ++next;
        attend_row(self, found[0], own.keys.of(k), own.values.of(k), k * self.group, tokens, i, next, mixed);
      }
    return mixed;
  }

 private:
  struct KeysAndValues {
    Entries keys, values;
  };

  void make_room(int count) {
    if (count > expected_) expected_ = std::max(count, expected_ + expected_ / 4);
    for (size_t index = 0; index < own_.size(); ++index) {
      const Attention& self = parts_->layers[index].self;
      own_[index].keys.reserve(expected_, self.keys(), self.padded());
      own_[index].values.reserve(expected_, self.keys(), self.padded());
    }
  }

  // Apply norm and position to queries or keys, in place.
  void place(const Attention& self, const Norm& norm, int heads, const Numbers& numbers, int count) {
    for (int i = 0; i < count; ++i) {
      float* at = numbers.at + static_cast<size_t>(i) * numbers.stride;
      if (norm.gain) normalise(at, heads, self.size, *parts_, norm, at);
      if (parts_->rotary) turns_.apply(i, at, heads);
    }
  }

  // Attend from the tokens begin … end − 1 of one row, for the query heads that share these keys.
  void attend_row(const Attention& self, const Numbers& of_queries, const float* keys, const float* values,
                  int first_head, const Token* tokens, int begin, int end, float* mixed) {
    const std::vector<int32_t>& entries = history_.of(tokens[begin].row);
    const int head = self.padded(), size = self.size, width = self.heads * size, last = tokens[end - 1].length;
    float *weights = weights_.data(), *queries = query_.data();
    int together = begin;  // tokens before this one are computed TOGETHER, the others one by one
    if (!self.distances && entries[last - 1] - entries[0] == last - 1)  // the row's entries are contiguous
      while (together + TOGETHER <= end && (!self.window || tokens[together + TOGETHER - 1].length <= self.window))
        together += TOGETHER;
    if (together > begin) {
      const size_t at = static_cast<size_t>(entries[0]) * head;
      lay_out(keys + at, values + at, head, last, head, laid_out_.room(Memory<float>::size(last, head)));
    }
    for (int h = first_head; h < first_head + self.group; ++h) {
      float* to = mixed + static_cast<size_t>(begin) * width + h * size;
      int i = begin;
      for (; i < together; i += TOGETHER, to += static_cast<size_t>(TOGETHER) * width) {
        for (int r = 0; r < TOGETHER; ++r) copy_head(of_queries, i + r, h, self, queries + r * head);
        Memory<float> memory(laid_out_.data(), last, head);
        memory.length = tokens[i + TOGETHER - 1].length;
        attend<TOGETHER, true>(queries, head, memory, head, self.scale, weights, [=](int r, int c, Floats y) {
          put(to + static_cast<size_t>(r) * width + c, y, size - c);
        });
      }
      for (; i < end; ++i, to += width) {
        copy_head(of_queries, i, h, self, queries);
        const int length = tokens[i].length, seen = self.window ? std::min(length, self.window) : length;
        attend_entries(queries, keys, head, values, head, entries.data() + length - seen, seen, head, self.scale,
                       weights, [=](int c, Floats y) { put(to + c, y, size - c); },
                       self.distances ? added_by_distance(self, h, length) : nullptr);
      }
    }
  }

  // Return what is added to the scores of `length` keys; the last key is the query's own.
  const float* added_by_distance(const Attention& self, int head, int length) {
    float* to = distances_.room(round_up(length, VECTOR));
    const float* last = self.distances + static_cast<size_t>(head + 1) * self.reach;
    const int near = std::min(length, self.reach);
    std::fill_n(to, length - near, *(last - self.reach));
    std::copy(last - near, last, to + length - near);
    return to;
  }

  const Parts* parts_ = nullptr;
  History history_;
  int expected_ = 0;
  std::vector<KeysAndValues> own_;
  Turns turns_;
  Buffer<float> projected_[3], query_, mixed_, weights_, laid_out_, distances_;
};

}  // namespace decoder
