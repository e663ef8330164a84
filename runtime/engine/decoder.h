// The decoder of any generation model, in float32 except for its linear maps.  Flags and optional maps describe what a
// layer consists of, so that GPT-2, BART, T5 and Llama are all instances of it.
//
// A row is a text that is being written.  Rows that continue the same text share the keys and values of its tokens
// (history.h).  Tokens that a row gets together, such as those of a prompt, are computed together.
#pragma once

#include <vector>

#include "attention.h"
#include "coded_linear.h"
#include "history.h"
#include "rotary.h"

namespace decoder {

// y = activation(W·x + b).
struct Map {
  const CodedLinear* linear = nullptr;  // null if pruning left no inputs: y = b
  const float* bias = nullptr;          // (outputs) or null
  float scale = 0;                      // of the inputs; 0: each row has its own
  Activation kind = Activation::none;
};

struct Norm {
  const float *gain = nullptr, *bias = nullptr;  // (d); without gain, x is unchanged
};

struct Attention {
  Norm norm;
  int heads = 0, size = 0;  // query heads, 0 if all were pruned; numbers of a head
  int group = 1;            // query heads that share a key and a value
  float scale = 1;
  std::vector<Map> maps;             // query, key and value; or one map for all three
  Map out;
  const float* distances = nullptr;  // (heads, reach) or null: added to scores; the last is for the nearest key
  int reach = 0;                     // keys at this distance or further share one number
  Norm query_norm, key_norm;         // applied to each head before the rotation
  int window = 0;                    // tokens that a query sees at most, including its own; 0: no limit

  int keys() const { return heads / group; }  // key heads
  int padded() const { return round_up(size, VECTOR); }  // stored numbers of a head
  int width() const { return heads * padded(); }
};

struct FeedForward {
  Norm norm;
  Map inner, gate, outer;  // outer(inner(x)), or outer(inner(x)·gate(x)) if there is a gate
};

struct Layer {
  Attention self;
  Attention cross;  // without maps and output if the decoder has no encoder
  FeedForward feed_forward;
};

struct Parts {
  int d = 0;
  bool norm_first = false;  // x + f(norm(x)); otherwise norm(x + f(x))
  bool centred = true;      // norms subtract the mean (LayerNorm); otherwise they do not (RMSNorm)
  float epsilon = 1e-5f;
  const CodedLinear* embedding = nullptr;
  float factor = 1;                  // multiplies the embeddings
  const float* positions = nullptr;  // (maximal tokens, d) or null: added to the embeddings
  Rotary rotary;                     // for self-attention
  Norm embedding_norm, last_norm;
  std::vector<Layer> layers;
  float output_factor = 1;
  Map output;
};

// Keys or values of past tokens, grouped by head.
class Entries {
 public:
  // Make room for `count` entries of each head; the contents are kept.
  void reserve(int count, int heads, int head) {
    if (count <= count_ || !heads) return;
    Buffer<float> larger;
    float* to = larger.room(static_cast<size_t>(count) * heads * head);
    for (int h = 0; h < heads && count_; ++h)
      std::copy_n(of(h), static_cast<size_t>(count_) * head, to + static_cast<size_t>(h) * count * head);
    numbers_ = std::move(larger);
    count_ = count, heads_ = heads, head_ = head;
  }

  float* of(int head) const { return numbers_.data() + static_cast<size_t>(head) * count_ * head_; }

  void move(int32_t from, int32_t to) {
    for (int h = 0; h < heads_; ++h)
      std::copy_n(of(h) + static_cast<size_t>(from) * head_, head_, of(h) + static_cast<size_t>(to) * head_);
  }

 private:
  Buffer<float> numbers_;
  int count_ = 0, heads_ = 0, head_ = 0;
};

// to[m] ← (x[m] − mean) / √(variance + ε)·gain + bias, where mean and bias are optional.  Rows have d numbers; `to` may
// be x.
inline void normalise(const float* x, int rows, int d, const Parts& parts, const Norm& norm, float* to) {
  const int whole = d / LANES * LANES;
  const float share = 1.0f / d;
  for (int m = 0; m < rows; ++m, x += d, to += d) {
    const auto total = [=](auto term) {  // Σ term(x[m])
      float found = 0;
      Floats sums[4] = {};
      int i = 0;
      for (; i + 4 * LANES <= d; i += 4 * LANES)
        for (int p = 0; p < 4; ++p) sums[p] += term(load(x + i + p * LANES));
      for (; i < whole; i += LANES) sums[0] += term(load(x + i));
      for (; i < d; ++i) found += term(all(x[i]))[0];
      return found + sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
    };
    const float mean = parts.centred ? total([](Floats y) { return y; }) * share : 0;
    const float squares = total([=](Floats y) { return (y - mean) * (y - mean); });
    const float factor = 1.0f / std::sqrt(squares * share + parts.epsilon);
    for (int i = 0; i < whole; i += LANES) {
      const Floats y = (load(x + i) - mean) * factor * load(norm.gain + i);
      store(to + i, norm.bias ? y + load(norm.bias + i) : y);
    }
    for (int i = whole; i < d; ++i) to[i] = (x[i] - mean) * factor * norm.gain[i] + (norm.bias ? norm.bias[i] : 0);
  }
}

}  // namespace decoder
