// Cross-attention of a decoder to the encoder's output for the text of each row.
#pragma once

#include <numeric>

#include "projected.h"

namespace decoder {

class ReadAttention {
 public:
  // Row m reads text m.
  void start(const Parts& parts, int rows) {
    parts_ = &parts;
    sentence_.resize(rows);
    std::iota(sentence_.begin(), sentence_.end(), 0);
  }

  int rows() const { return static_cast<int>(sentence_.size()); }

  // Row i becomes a copy of row from[i].
  void select(const std::vector<int>& from) {
    std::vector<int> sentence;
    for (const int m : from) sentence.push_back(sentence_[m]);
    sentence_.swap(sentence);
  }

  // Keep the encoder's output, (Σ lengths, its width), for each row, as keys and values.
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

  // Attend from each token to the text of its row.
  const float* operator()(int layer, const float* x, const Token* tokens, int count) {
    const Attention& cross = parts_->layers[layer].cross;
    const Buffer<float>& memory = memory_[layer];
    const Numbers found = apply(cross.maps[0], x, count, projected_[0]);
    const int head = cross.padded(), size = cross.size, width = cross.heads * size;
    float* mixed = mixed_.room(static_cast<size_t>(count) * width);
    float* queries = query_.room(static_cast<size_t>(TOGETHER) * head);
    for (int i = 0, next; i < count; i = next) {
      const int b = sentence_[tokens[i].row], length = lengths_[b];
      next = i + 1;
      while (next < count && next < i + TOGETHER && sentence_[tokens[next].row] == b) ++next;
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
        if (r + TOGETHER <= next - i) run.template operator()<TOGETHER>(r), r += TOGETHER;
        for (; r < next - i; ++r) run.template operator()<1>(r);
      }
    }
    return mixed;
  }

 private:
  // Store keys and values of the encoder's output for a sentence, as Memory of each head.
  void remember(const Attention& cross, const float* states, int length, float* to) {
    const Numbers found[2] = {apply(cross.maps[1], states, length, projected_[0]),
                              apply(cross.maps[2], states, length, projected_[1])};
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

  const Parts* parts_ = nullptr;
  std::vector<int> sentence_, lengths_;
  std::vector<size_t> memory_at_;
  std::vector<Buffer<float>> memory_;
  Buffer<float> projected_[2], query_, mixed_, weights_;
};

}  // namespace decoder
