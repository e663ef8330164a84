// A student whose products are of one kind of numbers, built from its parts.
#pragma once

#include "greedy.h"
#include "parts.h"

namespace {

template <class P>
class Student : public AnyStudent {
 public:
  explicit Student(const StudentParts& parts) : output_(parts.output) {
    network_.embedding = embedding(parts.embedding);
    network_.source_embedding = embedding(parts.source_embedding);
    for (const EncoderParts& layer : parts.encoder)
      network_.encoder.push_back({{layer.heads, linear(layer.projections), linear(layer.out)},
                                  layer.attention_norm,
                                  {linear(layer.inner), linear<typename P::Positive>(layer.outer)},
                                  layer.feed_forward_norm});
    network_.decoder_depth = parts.decoder_depth;
    network_.recurrent = parts.recurrent;
    for (const DecoderParts& layer : parts.decoder) {
      DecoderLayer<P> one;
      if (parts.recurrent)
        one.gates = linear(layer.gates);
      else
        one.self_attention = {layer.self_heads, linear(layer.self_projections), linear(layer.self_out)};
      one.self_norm = layer.self_norm;
      one.attention = {layer.heads, linear(layer.query), linear(layer.memory), linear(layer.out)};
      one.attention_norm = layer.attention_norm;
      one.feed_forward = {linear(layer.inner), linear<typename P::Positive>(layer.outer)};
      one.feed_forward_norm = layer.feed_forward_norm;
      network_.decoder.push_back(std::move(one));
    }
    network_.output.scale = output_.scale;
    output_sums_.resize(output_.outputs);
    for (int n = 0; n < output_.outputs; ++n)
      output_sums_[n] = Linear<P>::sum(weight(output_) + static_cast<size_t>(n) * output_.inputs, output_.inputs);
  }

  void positions(const float* table) override {
    network_.embedding.positions = network_.source_embedding.positions = table;
  }

  void choose(const int32_t* pieces, size_t count) override {
    columns_.assign(pieces, pieces + count);
    network_.output.gather(weight(output_), output_.inputs, output_.step, output_.bias, output_sums_.data(), columns_);
  }

  std::vector<Pieces> translate(const Pieces& pieces, const std::vector<int>& lengths, const std::vector<int>& limits,
                                bool unknown) override {
    const Released<P> released;
    network_.start(pieces.data(), lengths);
    return greedy(network_, columns_, limits, unknown);
  }

  void start(const Pieces& pieces, const std::vector<int>& lengths) override {
    const Released<P> released;
    network_.start(pieces.data(), lengths);
  }

  void step(const Pieces& pieces, float* outputs) override {
    const Released<P> released;
    const int rows = network_.rows();
    write_product(network_.output, network_.step(pieces.data()), rows, outputs, padded());
  }

  void select(const std::vector<int>& from) override { network_.select(from); }
  int rows() const override { return network_.rows(); }
  int columns() const override { return network_.output.outputs; }
  int padded() const override { return network_.output.padded; }

 private:
  using Weight = typename P::Weight;

  static const Weight* weight(const LinearParts& map) { return static_cast<const Weight*>(map.weight); }

  template <class Kind = P>
  static Linear<Kind> linear(const LinearParts& map) {
    return Linear<Kind>(weight(map), map.outputs, map.inputs, map.step, map.bias, map.scale);
  }

  static Embedding<P> embedding(const TableParts& table) {
    Embedding<P> found;
    found.rows = static_cast<const Weight*>(table.weight);
    found.scale = table.scale;
    found.vocabulary = table.pieces;
    found.d = table.width;
    return found;
  }

  Network<P> network_;
  const LinearParts output_;
  std::vector<int32_t> output_sums_;
  Pieces columns_;
};

}  // namespace
