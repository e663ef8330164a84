// Texts that a decoder is writing: the state of each row, and the step that adds tokens to all rows.
#pragma once

#include <numeric>

#include "own_attention.h"
#include "read_attention.h"

namespace decoder {

class Writing {
 public:
  // rows: number of texts, all empty.  expected: entries to make room for.
  void start(const Parts& parts, int rows, int expected) {
    parts_ = &parts;
    own_.start(parts, rows, expected);
    memory_.start(parts, rows);
  }

  int rows() const { return memory_.rows(); }

  // Keep the encoder's output, (Σ lengths, its width), for each row, as keys and values.
  void read(const float* states, const std::vector<int>& lengths) { memory_.read(states, lengths); }

  // Add counts[m] tokens, at least one, to each row m; `pieces` has them row by row.  Writes the logits after each
  // row's last token, (rows, output.padded()).
  void add(const int32_t* pieces, const std::vector<int>& counts, float* logits) {
    const int total = std::accumulate(counts.begin(), counts.end(), 0);
    const int32_t first = own_.add(counts, total);
    tokens_.clear();
    for (int m = 0; m < rows(); ++m)
      for (int left = counts[m] - 1; left >= 0; --left) tokens_.push_back({m, own_.length(m) - left});
    float* last = last_.room(static_cast<size_t>(rows()) * d());
    for (int begin = 0, count; begin < total; begin += count) {
      count = group(begin, total, counts);
      const Token* these = tokens_.data() + begin;
      const float* x = compute(pieces + begin, these, count, first + begin);
      for (int i = 0; i < count; ++i)
        if (these[i].length == own_.length(these[i].row))
          std::copy_n(x + static_cast<size_t>(i) * d(), d(), last + static_cast<size_t>(these[i].row) * d());
    }
    if (parts_->last_norm.gain) normalise(last, rows(), d(), *parts_, parts_->last_norm, last);
    if (parts_->output_factor != 1)
      for (size_t i = 0; i < static_cast<size_t>(rows()) * d(); ++i) last[i] *= parts_->output_factor;
    const Map& output = parts_->output;
    (*output.linear)(last, rows(), output.bias, output.scale, output.kind, logits);
  }

  // Row i becomes a copy of row from[i].
  void select(const std::vector<int>& from) {
    own_.select(from);
    memory_.select(from);
  }

 private:
  static constexpr int GROUP_ROWS = 256;  // tokens that are computed together, at most; they stay in a near cache

  int d() const { return parts_->d; }

  // Return the number of tokens to compute together from `begin` on.  A row is divided only after a multiple of
  // TOGETHER new tokens, so that its sums do not depend on the rows before it.
  int group(int begin, int total, const std::vector<int>& counts) const {
    if (total - begin <= GROUP_ROWS) return total - begin;
    const Token &last = tokens_[begin + GROUP_ROWS - 1], &next = tokens_[begin + GROUP_ROWS];
    if (last.row != next.row) return GROUP_ROWS;
    const int before = own_.length(last.row) - counts[last.row];
    return GROUP_ROWS - (last.length - before) % TOGETHER;
  }

  // Compute all layers for tokens whose entries begin at `entry`; returns x, (count, d).
  float* compute(const int32_t* pieces, const Token* tokens, int count, int32_t entry) {
    const Parts& parts = *parts_;
    float* x = x_.room(static_cast<size_t>(count) * d());
    for (int i = 0; i < count; ++i) {
      float* to = x + static_cast<size_t>(i) * d();
      parts.embedding->row(pieces[i], to);
      if (parts.factor != 1)
        for (int c = 0; c < d(); ++c) to[c] *= parts.factor;
      if (!parts.positions) continue;
      const float* position = parts.positions + static_cast<size_t>(tokens[i].length - 1) * d();
      for (int c = 0; c < d(); ++c) to[c] += position[c];
    }
    own_.turn(tokens, count);
    if (parts.embedding_norm.gain) normalise(x, count, d(), parts, parts.embedding_norm, x);
    for (int index = 0; index < static_cast<int>(parts.layers.size()); ++index) {
      const Layer& layer = parts.layers[index];
      block(layer.self.norm, x, count, layer.self.out,
            [&](const float* y) { return own_(index, y, tokens, count, entry); });
      if (!layer.cross.maps.empty() || layer.cross.out.bias)
        block(layer.cross.norm, x, count, layer.cross.out,
              [&](const float* y) { return memory_(index, y, tokens, count); });
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

  // Return the inputs of a feed-forward block's outer map, (count, its inputs).
  const float* inner(const FeedForward& block, const float* x, int count) {
    const Numbers y = apply(block.inner, x, count, inner_[0]);
    const int neurons = block.inner.linear->outputs();
    float* to = inner_[0].data();
    if (block.gate.linear) {
      const Numbers gate = apply(block.gate, x, count, inner_[1]);
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
  OwnAttention own_;
  ReadAttention memory_;
  std::vector<Token> tokens_;
  Buffer<float> x_, normalised_, inner_[2], added_, last_;
};

}  // namespace decoder
