// What Python sees: a student built from arrays, and batches translated by it.
#pragma once

#include "arrays.h"
#include "greedy.h"

namespace {

template <class T, size_t DIMENSIONS>
Numbers<T, DIMENSIONS> numbers(const nb::dict& values, const char* name) {
  Numbers<T, DIMENSIONS> found;
  if (!nb::try_cast(values[name], found, false))
    throw nb::type_error((std::string(name) + ": expected an array without gaps, of the numbers that this student has").c_str());
  return found;
}

template <class P>
struct Student {
  using Weight = typename P::Weight;

  Network<P> network;
  std::vector<nb::object> kept;  // arrays whose memory the network reads

  template <class T, size_t DIMENSIONS = 1>
  const T* keep(const nb::dict& values, const char* name) {
    kept.push_back(values[name]);
    return numbers<T, DIMENSIONS>(values, name).data();
  }

  static nb::dict part(const nb::dict& parts, const char* name) { return nb::cast<nb::dict>(parts[name]); }

  template <class Kind = P>
  static Linear<Kind> linear(const nb::dict& layer, const char* name) {
    const nb::dict values = part(layer, name);
    const auto weight = numbers<Weight, 2>(values, "weight");
    return Linear<Kind>(weight.data(), static_cast<int>(weight.shape(0)), static_cast<int>(weight.shape(1)),
                           numbers<float, 1>(values, "step").data(), numbers<float, 1>(values, "bias").data(),
                           nb::cast<float>(values["scale"]));
  }

  Norm norm(const nb::dict& layer, const char* name) {
    const nb::dict values = part(layer, name);
    return {keep<float>(values, "gain"), keep<float>(values, "bias")};
  }

  static Heads heads(const nb::dict& layer, const char* name) {
    const nb::dict values = part(layer, name);
    return {nb::cast<int>(values["count"]), nb::cast<int>(values["size"]), nb::cast<float>(values["scale"])};
  }

  static FeedForward<P> feed_forward(const nb::dict& layer) {
    return {linear(layer, "inner"), linear<typename P::Positive>(layer, "outer")};
  }

  Embedding<P> embedding(const nb::dict& parts, const char* name) {
    const nb::dict table = part(parts, name);
    const auto weight = numbers<Weight, 2>(table, "weight");
    Embedding<P> found;
    found.vocabulary = static_cast<int>(weight.shape(0));
    found.d = static_cast<int>(weight.shape(1));
    found.rows = keep<Weight, 2>(table, "weight");
    found.scale = keep<float>(table, "scale");
    return found;
  }

  explicit Student(const nb::dict& parts) {
    network.embedding = embedding(parts, "embedding");
    network.source_embedding = embedding(parts, "source_embedding");
    for (const nb::handle item : nb::cast<nb::list>(parts["encoder"])) {
      const nb::dict layer = nb::cast<nb::dict>(item);
      network.encoder.push_back({{heads(layer, "heads"), linear(layer, "projections"), linear(layer, "out")},
                                 norm(layer, "attention_norm"),
                                 feed_forward(layer),
                                 norm(layer, "feed_forward_norm")});
    }
    network.decoder_depth = nb::cast<int>(parts["decoder_depth"]);
    network.recurrent = nb::cast<bool>(parts["recurrent"]);
    for (const nb::handle item : nb::cast<nb::list>(parts["decoder"])) {
      const nb::dict layer = nb::cast<nb::dict>(item);
      DecoderLayer<P> one;
      if (network.recurrent)
        one.gates = linear(layer, "gates");
      else
        one.self_attention = {heads(layer, "self_heads"), linear(layer, "self_projections"), linear(layer, "self_out")};
      one.self_norm = norm(layer, "self_norm");
      one.attention = {heads(layer, "heads"), linear(layer, "query"), linear(layer, "memory"), linear(layer, "out")};
      one.attention_norm = norm(layer, "attention_norm");
      one.feed_forward = feed_forward(layer);
      one.feed_forward_norm = norm(layer, "feed_forward_norm");
      network.decoder.push_back(std::move(one));
    }
    const nb::dict out = part(parts, "output");
    output_weight = keep<Weight, 2>(out, "weight");
    output_step = keep<float>(out, "step");
    output_bias = keep<float>(out, "bias");
    network.output.scale = nb::cast<float>(out["scale"]);
    output_sums.resize(network.embedding.vocabulary);
    for (int n = 0; n < network.embedding.vocabulary; ++n)
      output_sums[n] = Linear<P>::sum(output_weight + static_cast<size_t>(n) * network.d(), network.d());
  }

  // Positional encodings (n, d) for all positions of what follows.
  void positions(const Numbers<float, 2>& table) {
    kept_positions = table;
    network.embedding.positions = network.source_embedding.positions = table.data();
  }

  // The pieces that an output may be from now on, ascending: the end and the unknown piece are the first two.
  void choose(const Numbers<int32_t, 1>& pieces) {
    const nb::gil_scoped_release release;
    columns.assign(pieces.data(), pieces.data() + pieces.size());
    network.output.gather(output_weight, network.d(), output_step, output_bias, output_sums.data(), columns);
  }

  // A batch by greedy search.  unknown: whether the unknown piece may stand in a translation.
  std::vector<std::vector<int32_t>> translate(const std::vector<int32_t>& pieces, const std::vector<int>& lengths,
                                              const std::vector<int>& limits, bool unknown) {
    const nb::gil_scoped_release release;
    const Released<P> released;
    network.start(pieces.data(), lengths);
    return greedy(network, columns, limits, unknown);
  }

  // For another search, which keeps the hypotheses itself: encode a batch; then, step by step, the last piece
  // of each row → the outputs (rows, columns); and rows that go on where others stood.
  void start(const std::vector<int32_t>& pieces, const std::vector<int>& lengths) {
    const nb::gil_scoped_release release;
    const Released<P> released;
    network.start(pieces.data(), lengths);
  }

  Result<2> step(const std::vector<int32_t>& pieces) {
    const int rows = network.rows(), width = network.output.padded;
    auto outputs = make_result<2>({static_cast<size_t>(rows), static_cast<size_t>(width)}, network.output.outputs);
    float* to = outputs.data();
    const nb::gil_scoped_release release;
    const Released<P> released;
    const auto* values = network.step(pieces.data());
    network.output(values, rows, [=](int m, int n, Floats y) INLINE { store(to + static_cast<size_t>(m) * width + n, y); });
    return outputs;
  }

  void select(const std::vector<int>& from) { network.select(from); }

  const Weight* output_weight;
  const float *output_step, *output_bias;
  std::vector<int32_t> output_sums, columns;
  Numbers<float, 2> kept_positions;
};

template <class P>
void bind_student(nb::module_& module, const char* name) {
  nb::class_<Student<P>>(module, name)
      .def(nb::init<const nb::dict&>())
      .def("positions", &Student<P>::positions, nb::arg().noconvert())
      .def("choose", &Student<P>::choose, nb::arg().noconvert())
      .def("translate", &Student<P>::translate)
      .def("start", &Student<P>::start)
      .def("step", &Student<P>::step)
      .def("select", &Student<P>::select);
}

}  // namespace
