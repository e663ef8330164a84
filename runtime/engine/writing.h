// Texts that a decoder is writing: what it remembers of each row, and a step that adds tokens to all of them.
#pragma once

#include <numeric>

#include "decoder.h"

namespace decoder {

class Writing {
 public:
  // rows: texts without a token.  expected: entries that there is room for from the start.
  void start(const Parts& parts, int rows, int expected) {
    parts_ = &parts;
    history_.start(rows);
    expected_ = expected;
    own_.clear();
    own_.resize(parts.layers.size());
    sentence_.assign(rows, 0);
    for (int m = 0; m < rows; ++m) sentence_[m] = m;
  }

  int rows() const { return static_cast<int>(sentence_.size()); }

  // What an encoder found, (Σ lengths, its width), for each row; all of it is kept as keys and values.
  void read(const float* states, const std::vector<int>& lengths) {
    lengths_ = lengths;
    memory_at_.assign(1, 0);
    for (const int length : lengths_) memory_at_.push_back(memory_at_.back() + Memory<float>::size(length, 1));
    memory_.clear();
    memory_.resize(parts_->layers.size());
    for (size_t index = 0; index < memory_.size(); ++index) {
      const Attention& cross = parts_->layers[index].cross;
      if (!cross.heads) continue;
      float* to = memory_[index].room(memory_at_.back() * cross.width());
      const float* from = states;
      for (size_t b = 0; b < lengths_.size(); ++b) {
        remember(cross, from, lengths_[b], to + memory_at_[b] * cross.width());
        from += static_cast<size_t>(lengths_[b]) * cross.maps[1].linear->inputs;
      }
    }
  }

  // counts[m] tokens more of each row, 1 at least, row after row → logits after the last of each,
  // (rows, output.padded()).
  void add(const int32_t* tokens, const std::vector<int>& counts, float* logits) {
    const int total = std::accumulate(counts.begin(), counts.end(), 0);
    const int32_t first = history_.add(
        [this](int32_t from, int32_t to) {
          for (auto& [keys, values] : own_) keys.move(from, to), values.move(from, to);
        },
        counts.data());
    make_room(first + total);
    owners_.clear();
    for (int m = 0; m < rows(); ++m)
      for (int left = counts[m] - 1; left >= 0; --left)
        owners_.push_back({m, static_cast<int>(history_.of(m).size()) - left});
    float* last = last_.room(static_cast<size_t>(rows()) * d());
    for (int begin = 0, count; begin < total; begin += count) {
      count = group(begin, total, counts);
      const Owner* owners = owners_.data() + begin;
      float* x = compute(tokens + begin, owners, count, first + begin);
      for (int i = 0; i < count; ++i)
        if (owners[i].length == static_cast<int>(history_.of(owners[i].row).size()))
          std::copy_n(x + static_cast<size_t>(i) * d(), d(), last + static_cast<size_t>(owners[i].row) * d());
    }
    if (parts_->last_norm.gain) normalise(last, rows(), d(), *parts_, parts_->last_norm, last);
    if (parts_->output_factor != 1)
      for (size_t i = 0; i < static_cast<size_t>(rows()) * d(); ++i) last[i] *= parts_->output_factor;
    const Map& output = parts_->output;
    (*output.linear)(last, rows(), output.bias, output.scale, output.kind, logits);
  }

  // Row i goes on where row from[i] stood.
  void select(const std::vector<int>& from) {
    std::vector<int> sentence;
    for (const int m : from) sentence.push_back(sentence_[m]);
    sentence_ = sentence;
    history_.select(from);
  }

 private:
  static constexpr int GROUP_ROWS = 256;  // tokens that are computed together, at most: they stay in a near cache

  struct Owner {  // of a token
    int row, length;  // tokens of the row up to this one
  };
  struct KeysAndValues {
    Entries keys, values;
  };
  struct Numbers {  // of all rows, `stride` apart
    float* at;
    int stride;
  };

  int d() const { return parts_->d; }

  // Tokens that are computed together from `begin` on.  A row is cut only between those that attention takes TOGETHER,
  // counted from the row's first new one, so that its sums are the same whatever rows stand before it.
  int group(int begin, int total, const std::vector<int>& counts) const {
    if (total - begin <= GROUP_ROWS) return total - begin;
    const Owner &last = owners_[begin + GROUP_ROWS - 1], &next = owners_[begin + GROUP_ROWS];
    if (last.row != next.row) return GROUP_ROWS;
    const int before = static_cast<int>(history_.of(last.row).size()) - counts[last.row];
    return GROUP_ROWS - (last.length - before) % TOGETHER;
  }

  void make_room(int count) {
    if (count > expected_) expected_ = std::max(count, expected_ + expected_ / 4);
    for (size_t index = 0; index < own_.size(); ++index) {
      const Attention& self = parts_->layers[index].self;
      own_[index].keys.reserve(expected_, self.keys(), self.padded());
      own_[index].values.reserve(expected_, self.keys(), self.padded());
    }
  }

  // All layers for tokens whose entries begin at `entry` → x (count, d).
  float* compute(const int32_t* tokens, const Owner* owners, int count, int32_t entry) {
    const Parts& parts = *parts_;
    float* x = x_.room(static_cast<size_t>(count) * d());
    for (int i = 0; i < count; ++i) {
      float* to = x + static_cast<size_t>(i) * d();
      parts.embedding->row(tokens[i], to);
      if (parts.factor != 1)
        for (int c = 0; c < d(); ++c) to[c] *= parts.factor;
      if (!parts.positions) continue;
      const float* position = parts.positions + static_cast<size_t>(owners[i].length - 1) * d();
      for (int c = 0; c < d(); ++c) to[c] += position[c];
    }
    if (parts.rotary) turns_.start(parts.rotary, count, [=](int i) { return owners[i].length - 1; });
    if (parts.embedding_norm.gain) normalise(x, count, d(), parts, parts.embedding_norm, x);
    for (size_t index = 0; index < parts.layers.size(); ++index) {
      const Layer& layer = parts.layers[index];
      block(layer.self.norm, x, count, layer.self.out,
            [&](const float* y) { return attend_own(layer.self, own_[index], y, owners, count, entry); });
      if (!layer.cross.maps.empty() || layer.cross.out.bias)
        block(layer.cross.norm, x, count, layer.cross.out,
              [&](const float* y) { return attend_memory(layer.cross, memory_[index], y, owners, count); });
      block(layer.feed_forward.norm, x, count, layer.feed_forward.outer,
            [&](const float* y) { return inner(layer.feed_forward, y, count); });
    }
    return x;
  }

  // x ← x + out(f(norm(x))), or norm(x + out(f(x))).
  template <class F>
  void block(const Norm& norm, float* x, int count, const Map& out, F f) {
    const float* from = x;
    if (parts_->norm_first && norm.gain) {
      float* y = normalised_.room(static_cast<size_t>(count) * d());
      normalise(x, count, d(), *parts_, norm, y);
      from = y;
    }
    if (out.linear) {
      const Numbers y = apply(out, f(from), count, added_);
      for (int i = 0; i < count; ++i)
        for (int c = 0; c < d(); ++c) x[static_cast<size_t>(i) * d() + c] += y.at[static_cast<size_t>(i) * y.stride + c];
    } else if (out.bias) {
      for (int i = 0; i < count; ++i)
        for (int c = 0; c < d(); ++c) x[static_cast<size_t>(i) * d() + c] += out.bias[c];
    }
    if (!parts_->norm_first) normalise(x, count, d(), *parts_, norm, x);
  }

  static Numbers apply(const Map& map, const float* x, int count, Buffer<float>& room) {
    const int stride = map.linear->padded();
    float* y = room.room(static_cast<size_t>(count) * stride);
    (*map.linear)(x, count, map.bias, map.scale, map.kind, y);
    return {y, stride};
  }

  // `parts` groups of heads, side by side → parts[p](row i, head) of the maps' outputs.
  void project(const Map* maps, int count_of_maps, int groups, const Attention& attention, const float* x, int count,
               Numbers* found) {
    for (int p = 0; p < count_of_maps; ++p) found[p] = apply(maps[p], x, count, projected_[p]);
    for (int p = count_of_maps; p < groups; ++p)
      found[p] = {found[0].at + p * attention.heads * attention.size, found[0].stride};
  }

  // Keys and values of what an encoder found in a sentence, as Memory of each head.
  void remember(const Attention& cross, const float* states, int length, float* to) {
    Numbers found[2];
    project(cross.maps.data() + 1, 2, 2, cross, states, length, found);
    const int head = cross.padded(), stride = 2 * head;
    float* both = mixed_.room(static_cast<size_t>(length) * stride);
    float* of_values = both + head;
    for (int h = 0; h < cross.heads; ++h, to += Memory<float>::size(length, head)) {
      for (int j = 0; j < length; ++j) {
        copy_head(found[0], j, h, cross, both + static_cast<size_t>(j) * stride);
        copy_head(found[1], j, h, cross, of_values + static_cast<size_t>(j) * stride);
      }
      lay_out(both, of_values, stride, length, head, to);
    }
  }

  // A head of a row, with zeros up to its padded size.
  static void copy_head(const Numbers& from, int row, int head, const Attention& attention, float* to) {
    const float* at = from.at + static_cast<size_t>(row) * from.stride + head * attention.size;
    std::copy_n(at, attention.size, to);
    std::fill(to + attention.size, to + attention.padded(), 0.0f);
  }

  // Attention of each token over those of its row up to itself → (count, heads·size).
  const float* attend_own(const Attention& self, KeysAndValues& own, const float* x, const Owner* owners, int count,
                          int32_t entry) {
    Numbers found[3];
    project(self.maps.data(), static_cast<int>(self.maps.size()), 3, self, x, count, found);
    place(self, self.query_norm, self.heads, found[0], count);
    place(self, self.key_norm, self.keys(), found[1], count);
    const int head = self.padded();
    float* mixed = mixed_.room(static_cast<size_t>(count) * self.heads * self.size);
    int longest = 0;
    for (int i = 0; i < count; ++i) {
      longest = std::max(longest, owners[i].length);
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
        while (next < count && owners[next].row == owners[i].row) ++next;
        attend_row(self, found[0], own.keys.of(k), own.values.of(k), k * self.group, owners, i, next, mixed);
      }
    return mixed;
  }

  // Norm and position of queries or of keys, in place.
  void place(const Attention& self, const Norm& norm, int heads, const Numbers& numbers, int count) {
    for (int i = 0; i < count; ++i) {
      float* at = numbers.at + static_cast<size_t>(i) * numbers.stride;
      if (norm.gain) normalise(at, heads, self.size, *parts_, norm, at);
      if (parts_->rotary) turns_.apply(i, at, heads);
    }
  }

  // The same for the tokens begin … end, all of one row, and for the heads of queries that share these keys.
  void attend_row(const Attention& self, const Numbers& of_queries, const float* keys, const float* values,
                  int first_head, const Owner* owners, int begin, int end, float* mixed) {
    const std::vector<int32_t>& entries = history_.of(owners[begin].row);
    const int head = self.padded(), size = self.size, width = self.heads * size, last = owners[end - 1].length;
    float *weights = weights_.data(), *queries = query_.data();
    int together = begin;  // tokens up to here are computed TOGETHER, those behind them one by one
    if (!self.distances && entries[last - 1] - entries[0] == last - 1)  // the row lies in one piece
      while (together + TOGETHER <= end && (!self.window || owners[together + TOGETHER - 1].length <= self.window))
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
        memory.length = owners[i + TOGETHER - 1].length;
        attend<TOGETHER, true>(queries, head, memory, head, self.scale, weights, [=](int r, int c, Floats y) {
          put(to + static_cast<size_t>(r) * width + c, y, size - c);
        });
      }
      for (; i < end; ++i, to += width) {
        copy_head(of_queries, i, h, self, queries);
        const int length = owners[i].length, seen = self.window ? std::min(length, self.window) : length;
        attend_entries(queries, keys, head, values, head, entries.data() + length - seen, seen, head, self.scale,
                       weights, [=](int c, Floats y) { put(to + c, y, size - c); },
                       self.distances ? added_by_distance(self, h, length) : nullptr);
      }
    }
  }

  // What is added to the scores of `length` keys, the last of which is the query's own.
  const float* added_by_distance(const Attention& self, int head, int length) {
    float* to = added_.room(round_up(length, VECTOR));
    const float* last = self.distances + static_cast<size_t>(head + 1) * self.reach;
    const int near = std::min(length, self.reach);
    std::fill_n(to, length - near, *(last - self.reach));
    std::copy(last - near, last, to + length - near);
    return to;
  }

  // Attention of each token over what the encoder found for its row.
  const float* attend_memory(const Attention& cross, const Buffer<float>& memory, const float* x, const Owner* owners,
                             int count) {
    Numbers found;
    project(cross.maps.data(), 1, 1, cross, x, count, &found);
    const int head = cross.padded(), size = cross.size, width = cross.heads * size;
    float* mixed = mixed_.room(static_cast<size_t>(count) * width);
    float* queries = query_.room(static_cast<size_t>(TOGETHER) * head);
    for (int i = 0, next; i < count; i = next) {
      const int b = sentence_[owners[i].row], length = lengths_[b];
      next = i + 1;
      while (next < count && next < i + TOGETHER && sentence_[owners[next].row] == b) ++next;
      float* weights = weights_.room(static_cast<size_t>(TOGETHER) * round_up(length, VECTOR));
      const float* at = memory.data() + memory_at_[b] * cross.width();
      for (int h = 0; h < cross.heads; ++h, at += Memory<float>::size(length, head)) {
        for (int r = i; r < next; ++r) copy_head(found, r, h, cross, queries + static_cast<size_t>(r - i) * head);
        const Memory<float> sentence(at, length, head);
        float* to = mixed + static_cast<size_t>(i) * width + h * cross.size;
        const auto run = [&]<int R>(int r) {
          attend<R>(queries + static_cast<size_t>(r) * head, head, sentence, head, cross.scale, weights,
                    [=](int q, int c, Floats y) { put(to + static_cast<size_t>(r + q) * width + c, y, size - c); });
        };
        int r = 0;
        if (r + 4 <= next - i) run.template operator()<4>(r), r += 4;
        for (; r < next - i; ++r) run.template operator()<1>(r);
      }
    }
    return mixed;
  }

  static constexpr int TOGETHER = 4;  // queries that read a sentence's memory together, at most

  // The first `count` of LANES numbers, all where there are more.
  static void put(float* to, Floats y, int count) {
    if (count >= LANES) return store(to, y);
    for (int i = 0; i < count; ++i) to[i] = y[i];
  }

  // What goes into a feed-forward block's outer map, (count, its inputs).
  const float* inner(const FeedForward& block, const float* x, int count) {
    const Numbers y = apply(block.inner, x, count, projected_[0]);
    const int neurons = block.inner.linear->outputs();
    float* to = projected_[0].data();
    if (block.gate.linear) {
      const Numbers gate = apply(block.gate, x, count, projected_[1]);
      for (int i = 0; i < count; ++i)
        for (int n = 0; n < neurons; ++n)
          to[static_cast<size_t>(i) * neurons + n] =
              y.at[static_cast<size_t>(i) * y.stride + n] * gate.at[static_cast<size_t>(i) * gate.stride + n];
    } else if (y.stride != neurons) {
      for (int i = 1; i < count; ++i)
        std::memmove(to + static_cast<size_t>(i) * neurons, y.at + static_cast<size_t>(i) * y.stride,
                     sizeof(float) * neurons);
    }
    return to;
  }

  const Parts* parts_ = nullptr;
  History history_;
  int expected_ = 0;
  std::vector<KeysAndValues> own_;
  std::vector<Owner> owners_;
  std::vector<int> sentence_, lengths_;
  std::vector<size_t> memory_at_;
  std::vector<Buffer<float>> memory_;
  Turns turns_;
  Buffer<float> x_, normalised_, projected_[3], query_, mixed_, added_, weights_, last_, laid_out_;
};

}  // namespace decoder
