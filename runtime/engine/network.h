// A student: embeddings, encoder, decoder, and the state of the batch that is being translated.
#pragma once

#include <vector>

#include "embedding.h"
#include "history.h"
#include "layers.h"
#include "ssru.h"
#include "state.h"

constexpr int GROUP_ROWS = 256;  // rows that are encoded together, at least

template <class P>
class Network {
 public:
  using Value = typename P::Value;
  using Kept = typename P::Kept;  // type of the stored keys and values of the source

  Embedding<P> embedding, source_embedding;  // of target and source; may be the same
  std::vector<EncoderLayer<P>> encoder;
  std::vector<DecoderLayer<P>> decoder;  // distinct layers
  int decoder_depth = 0;                 // applied layers; a tied layer is applied repeatedly
  bool recurrent = true;                 // SSRU instead of self-attention
  Linear<P> output;                      // for the columns chosen for the batch

  // Encode a batch, its sentences one after another without padding, and prepare the decoder, with one row for each
  // sentence.
  void start(const int32_t* pieces, const std::vector<int>& lengths) {
    const size_t count = lengths.size();
    lengths_ = lengths;
    memory_at_.assign(count + 1, 0);
    first_row_.assign(count + 1, 0);
    for (size_t b = 0; b < count; ++b) {
      memory_at_[b + 1] = memory_at_[b] + Memory<Kept>::size(lengths_[b], 1);
      first_row_[b + 1] = first_row_[b] + lengths_[b];
    }
    memory_.resize(decoder.size());
    for (size_t index = 0; index < decoder.size(); ++index)
      memory_[index].room(memory_at_.back() * decoder[index].attention.heads.width());
    for (size_t first = 0, last; first < count; first = last) {
      last = first + 1;
      while (last < count && first_row_[last] - first_row_[first] < GROUP_ROWS) ++last;
      encode(pieces + first_row_[first], first, last);
      project_memory(first, last);
    }
    position_ = 0;
    history_.start(recurrent ? 0 : static_cast<int>(count));
    sentence_.resize(count);
    for (size_t b = 0; b < count; ++b) sentence_[b] = static_cast<int>(b);
    state_.resize(decoder_depth);
    for (auto& one : state_) one.start(recurrent ? count * d() : 0);
  }

  int rows() const { return static_cast<int>(sentence_.size()); }
  int d() const { return embedding.d; }

  // Decode one step from the last piece of each row; return the inputs of the output product, (rows, output.depth).
  const Value* step(const int32_t* pieces) {
    const int count = rows();
    float* x = x_.room(static_cast<size_t>(count) * d());
    for (int m = 0; m < count; ++m) embedding.write(pieces[m], position_, x + static_cast<size_t>(m) * d());
    const int32_t entry = history_.add([&](int32_t from, int32_t to) {
      for (State& one : state_) one.move_entry(from, to);
    });
    const bool tied = static_cast<int>(decoder.size()) < decoder_depth;
    for (int applied = 0; applied < decoder_depth; ++applied) {
      const int index = tied ? 0 : applied;
      const DecoderLayer<P>& layer = decoder[index];
      if (recurrent)
        recur(layer, state_[applied], x, count, applied == 0);
      else
        attend_self(layer, state_[applied], x, count, entry, applied == 0);
      attend_memory(layer, memory_[index], x, count);
      const bool last = applied + 1 == decoder_depth;
      const DecoderLayer<P>& following = decoder[last || tied ? 0 : applied + 1];
      const Linear<P>& next = last ? output : recurrent ? following.gates : following.self_attention.projections;
      normalise_for(layer.feed_forward_norm, x, count, next);
    }
    ++position_;
    return values_.data();
  }

  // Row i becomes a copy of row from[i].
  void select(const std::vector<int>& from) {
    std::vector<int> sentence(from.size());
    for (size_t i = 0; i < from.size(); ++i) sentence[i] = sentence_[from[i]];
    sentence_ = sentence;
    if (recurrent) {
      for (auto& one : state_) one.select_cells(from, d());
      return;
    }
    history_.select(from);
  }

 private:

  void normalise_for(const Norm& norm, float* x, int rows, const Linear<P>& next) {
    values_.room(static_cast<size_t>(rows) * next.depth);
    normalise<P>(x, rows, d(), norm, values_.data(), next.depth, next.scale);
  }

  void convert_for(const float* x, int rows, const Linear<P>& next) {
    values_.room(static_cast<size_t>(rows) * next.depth);
    convert<P>(x, rows, d(), values_.data(), next.depth, next.scale);
  }

  // Encode the sentences first … last − 1.  Writes the encoder's output to x_ and, as inputs of the first decoder
  // layer's projection, to values_.  All layers are computed for a few rows at a time, which stay in the cache.
  void encode(const int32_t* pieces, size_t first, size_t last) {
    const int rows = first_row_[last] - first_row_[first];
    float* x = x_.room(static_cast<size_t>(rows) * d());
    int row = 0;
    for (size_t b = first; b < last; ++b)
      for (int position = 0; position < lengths_[b]; ++position, ++row)
        source_embedding.write(pieces[row], position, x + static_cast<size_t>(row) * d());
    convert_for(x, rows, encoder[0].attention.projections);
    for (size_t index = 0; index < encoder.size(); ++index) {
      const EncoderLayer<P>& layer = encoder[index];
      attend_sentences(layer.attention, first, last, rows);
      add_product(layer.attention.out, mixed_.data(), rows, x, d());
      normalise_for(layer.attention_norm, x, rows, layer.feed_forward.inner);
      add_feed_forward(layer.feed_forward, values_.data(), rows, inner_, x, d());
      const bool final = index + 1 == encoder.size();
      normalise_for(layer.feed_forward_norm, x, rows,
                    final ? decoder[0].attention.memory : encoder[index + 1].attention.projections);
    }
  }

  // Self-attention of each sentence: values_ → mixed_.
  void attend_sentences(const SelfAttention<P>& attention, size_t first, size_t last, int rows) {
    const int stride = attention.projections.padded, width = attention.heads.width(), head = attention.heads.size;
    float* projected = projected_.room(static_cast<size_t>(rows) * stride);
    write_product(attention.projections, values_.data(), rows, projected, stride);
    const int depth = attention.out.depth;
    Value* mixed = mixed_.room(static_cast<size_t>(rows) * depth);
    for (size_t b = first; b < last; ++b) {
      const int length = lengths_[b];
      float* room = laid_out_.room(Memory<float>::size(length, head));
      const float* sentence = projected + static_cast<size_t>(first_row_[b] - first_row_[first]) * stride;
      Value* to = mixed + static_cast<size_t>(first_row_[b] - first_row_[first]) * depth;
      for (int c = 0; c < width; c += head) {
        const auto memory = lay_out(sentence + width + c, sentence + 2 * width + c, stride, length, head, room);
        attend_all(sentence + c, stride, length, memory, attention.heads, to + c, depth, attention.out.scale);
      }
    }
  }

  // Several queries of one sentence and head attend; the results are written `depth` apart, as activations of `scale`.
  template <class T>
  void attend_all(const float* queries, int stride, int count, const Memory<T>& memory, const Heads& heads, Value* to,
                  int depth, float scale) {
    float* weights = weights_.room(static_cast<size_t>(8) * round_up(memory.length, VECTOR));
    auto run = [&](auto size, int q) {
      attend<size.value>(queries + static_cast<size_t>(q) * stride, stride, memory, heads.size, heads.scale, weights,
                         [=](int r, int c, Floats y) { P::store(to + static_cast<size_t>(q + r) * depth + c, y, scale); });
    };
    int q = 0;
    for (; q + 8 <= count; q += 8) run(std::integral_constant<int, 8>{}, q);
    if (q + 4 <= count) run(std::integral_constant<int, 4>{}, q), q += 4;
    if (q + 2 <= count) run(std::integral_constant<int, 2>{}, q), q += 2;
    if (q < count) run(std::integral_constant<int, 1>{}, q);
  }

  // Project the encoder's output for these sentences to keys and values of each decoder layer.
  void project_memory(size_t first, size_t last) {
    const int rows = first_row_[last] - first_row_[first];
    for (size_t index = 0; index < decoder.size(); ++index) {
      const CrossAttention<P>& attention = decoder[index].attention;
      if (index) convert_for(x_.data(), rows, attention.memory);
      const int stride = attention.memory.padded, width = attention.heads.width(), head = attention.heads.size;
      float* projected = projected_.room(static_cast<size_t>(rows) * stride);
      write_product(attention.memory, values_.data(), rows, projected, stride);
      for (size_t b = first; b < last; ++b) {
        const float* sentence = projected + static_cast<size_t>(first_row_[b] - first_row_[first]) * stride;
        Kept* to = memory_[index].data() + memory_at_[b] * width;
        for (int c = 0; c < width; c += head, to += Memory<Kept>::size(lengths_[b], head))
          lay_out(sentence + c, sentence + width + c, stride, lengths_[b], head, to);
      }
    }
  }

  // One SSRU step of all rows: x ← norm(x + output).
  void recur(const DecoderLayer<P>& layer, State& state, float* x, int rows, bool first) {
    if (first) convert_for(x, rows, layer.gates);
    const int width = d();
    float* gates = projected_.room(static_cast<size_t>(rows) * 2 * width);
    write_product(layer.gates, values_.data(), rows, gates, 2 * width);
    ::recur(gates, state.cells.data(), x, rows, width);
    normalise_for(layer.self_norm, x, rows, layer.attention.query);
  }

  // Self-attention over all positions so far: x ← norm(x + attention).  The entries of this step begin at `entry`.
  void attend_self(const DecoderLayer<P>& layer, State& state, float* x, int rows, int32_t entry, bool first) {
    const SelfAttention<P>& attention = layer.self_attention;
    if (first) convert_for(x, rows, attention.projections);
    const int width = attention.heads.width();
    const int stride = state.width = 2 * width, depth = attention.out.depth;
    float* queries = queries_.room(static_cast<size_t>(rows) * width);
    const float* entries = state.entries.extend(static_cast<size_t>(entry + rows) * stride);
    float* to = state.entries.data() + static_cast<size_t>(entry) * stride;
    attention.projections(values_.data(), rows, [=](int m, int n, Floats y) INLINE {
      store(n < width ? queries + static_cast<size_t>(m) * width + n : to + static_cast<size_t>(m) * stride + n - width, y);
    });
    Value* mixed = mixed_.room(static_cast<size_t>(rows) * depth);
    const int length = position_ + 1;
    float* weights = weights_.room(round_up(length, VECTOR));
    const float scale = attention.out.scale;
    for (int m = 0; m < rows; ++m, mixed += depth)
      for (int c = 0; c < width; c += attention.heads.size)
        attend_entries(queries + static_cast<size_t>(m) * width + c, entries + c, stride, entries + width + c, stride,
                       history_.of(m).data(), length, attention.heads.size, attention.heads.scale, weights,
                       [=](int at, Floats y) INLINE { P::store(mixed + c + at, y, scale); });
    add_product(attention.out, mixed_.data(), rows, x, d());
    normalise_for(layer.self_norm, x, rows, layer.attention.query);
  }

  // x ← norm(x + attention over each row's sentence), then the feed-forward block.
  void attend_memory(const DecoderLayer<P>& layer, const Buffer<Kept>& memory, float* x, int rows) {
    const CrossAttention<P>& attention = layer.attention;
    const int width = attention.heads.width(), head = attention.heads.size;
    float* queries = queries_.room(static_cast<size_t>(rows) * width);
    write_product(attention.query, values_.data(), rows, queries, width);
    const int depth = attention.out.depth;
    Value* mixed = mixed_.room(static_cast<size_t>(rows) * depth);
    for (int m = 0, next; m < rows; m = next) {
      const int b = sentence_[m];
      next = m + 1;
      while (next < rows && sentence_[next] == b) ++next;  // hypotheses of one sentence read its memory together
      const Kept* at = memory.data() + memory_at_[b] * width;
      for (int c = 0; c < width; c += head, at += Memory<Kept>::size(lengths_[b], head))
        attend_all(queries + static_cast<size_t>(m) * width + c, width, next - m, Memory<Kept>(at, lengths_[b], head),
                   attention.heads, mixed + static_cast<size_t>(m) * depth + c, depth, attention.out.scale);
    }
    add_product(attention.out, mixed, rows, x, d());
    normalise_for(layer.attention_norm, x, rows, layer.feed_forward.inner);
    add_feed_forward(layer.feed_forward, values_.data(), rows, inner_, x, d());
  }

  std::vector<int> lengths_, first_row_;           // of each sentence: its pieces, and those of all before it
  std::vector<size_t> memory_at_;                  // of each sentence: where its memory begins, for a width of 1
  std::vector<int> sentence_;                      // of each row
  std::vector<State> state_;                       // of each applied decoder layer
  std::vector<Buffer<Kept>> memory_;               // of each distinct decoder layer: by sentence and head
  History history_;                                // of rows with self-attention
  int position_ = 0;
  Buffer<float> x_, projected_, laid_out_, weights_, queries_;
  Buffer<Value> values_, mixed_;
  Buffer<typename P::Positive::Value> inner_;
};
