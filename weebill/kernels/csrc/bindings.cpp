// What Python sees: a student built from tensors, and batches translated by it.
#include "greedy.h"
#include "tensors.h"

void bind_layers(py::module_& module);  // layers.cpp

namespace {

template <class P>
struct Student {
  Network<P> network;
  std::vector<Tensor> kept;  // whose memory the network reads

  template <class T>
  const T* keep(const py::dict& values, const char* name) {
    Tensor tensor = values[name].cast<Tensor>().contiguous();
    kept.push_back(tensor);
    return tensor.data_ptr<T>();
  }

  template <class Numbers = P>
  static Linear<Numbers> linear(const py::dict& layer, const char* name) {
    const auto values = layer[name].cast<py::dict>();
    const Tensor weight = values["weight"].cast<Tensor>().contiguous();
    const Tensor step = values["step"].cast<Tensor>().contiguous();
    const Tensor bias = values["bias"].cast<Tensor>().contiguous();
    return Linear<Numbers>(weight.data_ptr<typename P::Weight>(), static_cast<int>(weight.size(0)),
                           static_cast<int>(weight.size(1)), step.data_ptr<float>(), bias.data_ptr<float>(),
                           values["scale"].cast<float>());
  }

  Norm norm(const py::dict& layer, const char* name) {
    const auto values = layer[name].cast<py::dict>();
    return {keep<float>(values, "gain"), keep<float>(values, "bias")};
  }

  static Heads heads(const py::dict& layer, const char* name) {
    const auto values = layer[name].cast<py::dict>();
    return {values["count"].cast<int>(), values["size"].cast<int>(), values["scale"].cast<float>()};
  }

  static FeedForward<P> feed_forward(const py::dict& layer) {
    return {linear(layer, "inner"), linear<typename P::Positive>(layer, "outer")};
  }

  Embedding<P> embedding(const py::dict& parts, const char* name) {
    const auto table = parts[name].cast<py::dict>();
    const Tensor weight = table["weight"].cast<Tensor>();
    Embedding<P> found;
    found.vocabulary = static_cast<int>(weight.size(0));
    found.d = static_cast<int>(weight.size(1));
    found.rows = keep<typename P::Weight>(table, "weight");
    found.scale = keep<float>(table, "scale");
    return found;
  }

  explicit Student(const py::dict& parts) {
    network.embedding = embedding(parts, "embedding");
    network.source_embedding = embedding(parts, "source_embedding");
    for (const auto& item : parts["encoder"].cast<py::list>()) {
      const auto layer = item.cast<py::dict>();
      network.encoder.push_back({{heads(layer, "heads"), linear(layer, "projections"), linear(layer, "out")},
                                 norm(layer, "attention_norm"),
                                 feed_forward(layer),
                                 norm(layer, "feed_forward_norm")});
    }
    network.decoder_depth = parts["decoder_depth"].cast<int>();
    network.recurrent = parts["recurrent"].cast<bool>();
    for (const auto& item : parts["decoder"].cast<py::list>()) {
      const auto layer = item.cast<py::dict>();
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
    const auto out = parts["output"].cast<py::dict>();
    output_weight = keep<typename P::Weight>(out, "weight");
    output_step = keep<float>(out, "step");
    output_bias = keep<float>(out, "bias");
    network.output.scale = out["scale"].cast<float>();
    output_sums.resize(network.embedding.vocabulary);
    for (int n = 0; n < network.embedding.vocabulary; ++n)
      output_sums[n] = Linear<P>::sum(output_weight + static_cast<size_t>(n) * network.d(), network.d());
  }

  // Positional encodings (n, d) for all positions of what follows.
  void positions(const Tensor& table) {
    kept_positions = table.contiguous();
    network.embedding.positions = network.source_embedding.positions = kept_positions.data_ptr<float>();
  }

  // The pieces that an output may be from now on, ascending: the end and the unknown piece are the first two.
  void choose(const Tensor& pieces) {
    py::gil_scoped_release release;
    columns.assign(pieces.data_ptr<int32_t>(), pieces.data_ptr<int32_t>() + pieces.numel());
    network.output.gather(output_weight, network.d(), output_step, output_bias, output_sums.data(), columns);
  }

  // A batch by greedy search.  unknown: whether the unknown piece may stand in a translation.
  std::vector<std::vector<int32_t>> translate(const std::vector<int32_t>& pieces, const std::vector<int>& lengths,
                                              const std::vector<int>& limits, bool unknown) {
    py::gil_scoped_release release;
    const Released<P> released;
    network.start(pieces.data(), lengths);
    return greedy(network, columns, limits, unknown);
  }

  // For another search, which keeps the hypotheses itself: encode a batch; then, step by step, the last piece
  // of each row → the outputs (rows, columns); and rows that go on where others stood.
  void start(const std::vector<int32_t>& pieces, const std::vector<int>& lengths) {
    py::gil_scoped_release release;
    const Released<P> released;
    network.start(pieces.data(), lengths);
  }

  Tensor step(const std::vector<int32_t>& pieces) {
    py::gil_scoped_release release;
    const Released<P> released;
    const auto* values = network.step(pieces.data());
    const int rows = network.rows(), width = network.output.padded;
    Tensor outputs = at::empty({rows, width});
    float* to = outputs.data_ptr<float>();
    network.output(values, rows, [=](int m, int n, Floats y) INLINE { store(to + static_cast<size_t>(m) * width + n, y); });
    return outputs.narrow(1, 0, network.output.outputs);
  }

  void select(const std::vector<int>& from) { network.select(from); }

  const typename P::Weight* output_weight;
  const float *output_step, *output_bias;
  std::vector<int32_t> output_sums, columns;
  Tensor kept_positions;
};

template <class P>
void bind(py::module_& module, const char* name) {
  py::class_<Student<P>>(module, name)
      .def(py::init<const py::dict&>())
      .def("positions", &Student<P>::positions)
      .def("choose", &Student<P>::choose)
      .def("translate", &Student<P>::translate)
      .def("start", &Student<P>::start)
      .def("step", &Student<P>::step)
      .def("select", &Student<P>::select);
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  bind_layers(module);
  bind<Int8>(module, "Int8Student");
  bind<Float32>(module, "Float32Student");
#ifdef __AVX512BF16__
  bind<Bfloat16>(module, "Bfloat16Student");
#endif
}
