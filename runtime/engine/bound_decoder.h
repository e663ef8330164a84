// Python bindings of the decoder: its parts, named as in decoder.h, and the texts that it writes.
#pragma once

#include "bound_linear.h"
#include "writing.h"

namespace {

// Read the parts of a decoder from a Python dictionary, and keep the arrays and maps that they point to alive.
struct BoundDecoder {
  decoder::Parts parts;
  std::vector<nb::object> kept;

  explicit BoundDecoder(const nb::dict& given) {
    parts.d = nb::cast<int>(given["d"]);
    parts.norm_first = nb::cast<bool>(given["norm_first"]);
    parts.centred = nb::cast<bool>(given["centred"]);
    parts.epsilon = nb::cast<float>(given["epsilon"]);
    parts.embedding = linear(given["embedding"]);
    parts.factor = nb::cast<float>(given["factor"]);
    parts.positions = table(given["positions"]);
    int half = 0;
    const float* frequencies = numbers(given["frequencies"], &half);
    parts.rotary = {frequencies, half, nb::cast<float>(given["rotary_factor"])};
    parts.embedding_norm = norm(given["embedding_norm"]);
    parts.last_norm = norm(given["last_norm"]);
    for (const nb::handle item : nb::cast<nb::list>(given["layers"])) {
      const nb::dict layer = nb::cast<nb::dict>(item);
      parts.layers.push_back({attention(layer["self"]), attention(layer["cross"]), feed_forward(layer)});
    }
    parts.output_factor = nb::cast<float>(given["output_factor"]);
    parts.output = map(given["output"]);
  }

  const float* numbers(const nb::handle& given, int* count = nullptr) {
    if (given.is_none()) return nullptr;
    kept.push_back(nb::borrow(given));
    const auto found = nb::cast<Numbers<float, 1>>(given);
    if (count) *count = static_cast<int>(found.size());
    return found.data();
  }

  const float* table(const nb::handle& given, int* columns = nullptr) {
    if (given.is_none()) return nullptr;
    kept.push_back(nb::borrow(given));
    const auto found = nb::cast<Numbers<float, 2>>(given);
    if (columns) *columns = static_cast<int>(found.shape(1));
    return found.data();
  }

  const CodedLinear* linear(const nb::handle& given) {
    if (given.is_none()) return nullptr;
    kept.push_back(nb::borrow(given));
    if (nb::isinstance<BoundInt4Linear>(given)) return &nb::cast<BoundInt4Linear&>(given).linear;
    return &nb::cast<BoundInt8Linear&>(given).linear;
  }

  decoder::Norm norm(const nb::handle& given) {
    if (given.is_none()) return {};
    const auto both = nb::cast<nb::tuple>(given);
    return {numbers(both[0]), numbers(both[1])};
  }

  decoder::Map map(const nb::handle& given) {
    if (given.is_none()) return {};
    const auto four = nb::cast<nb::tuple>(given);
    return {linear(four[0]), numbers(four[1]), nb::cast<float>(four[2]), nb::cast<Activation>(four[3])};
  }

  decoder::Attention attention(const nb::handle& given) {
    decoder::Attention found;
    if (given.is_none()) return found;
    const nb::dict values = nb::cast<nb::dict>(given);
    found.norm = norm(values["norm"]);
    found.heads = nb::cast<int>(values["heads"]);
    found.size = nb::cast<int>(values["size"]);
    found.group = nb::cast<int>(values["group"]);
    found.scale = nb::cast<float>(values["scale"]);
    for (const nb::handle item : nb::cast<nb::list>(values["maps"])) found.maps.push_back(map(item));
    found.out = map(values["out"]);
    found.distances = table(values["distances"], &found.reach);
    found.query_norm = norm(values["query_norm"]), found.key_norm = norm(values["key_norm"]);
    found.window = nb::cast<int>(values["window"]);
    return found;
  }

  decoder::FeedForward feed_forward(const nb::dict& layer) {
    return {norm(layer["norm"]), map(layer["inner"]), map(layer["gate"]), map(layer["outer"])};
  }
};

// Texts that are being written.  Several threads may use the same decoder, each with its own texts.
struct BoundWriting {
  const decoder::Parts& parts;
  decoder::Writing writing;

  BoundWriting(const BoundDecoder& decoder, int rows, int expected) : parts(decoder.parts) {
    writing.start(parts, rows, expected);
  }

  // states: float32 (Σ lengths, width of the encoder).
  void read(const Numbers<float, 2>& states, const std::vector<int>& lengths) {
    const nb::gil_scoped_release release;
    const Released<Int8> released;
    writing.read(states.data(), lengths);
  }

  // Add tokens: int64, counts[m] for row m.  Returns the logits after each row's last token, float32 (rows,
  // vocabulary).
  Result<2> add(const Numbers<int64_t, 1>& tokens, const std::vector<int>& counts) {
    const CodedLinear& output = *parts.output.linear;
    const auto rows = static_cast<size_t>(writing.rows());
    expect(counts.size() == rows, "expected a count per row");
    const int vocabulary = parts.embedding->outputs();
    for (size_t i = 0; i < tokens.size(); ++i)
      expect(tokens.data()[i] >= 0 && tokens.data()[i] < vocabulary, "a token is not in the vocabulary");
    const std::vector<int32_t> narrow(tokens.data(), tokens.data() + tokens.size());
    auto logits = make_result<2>({rows, static_cast<size_t>(output.padded())}, output.outputs());
    const nb::gil_scoped_release release;
    const Released<Int8> released;
    writing.add(narrow.data(), counts, logits.data());
    return logits;
  }

  void select(const std::vector<int>& from) { writing.select(from); }
};

void bind_decoder(nb::module_& module) {
  nb::class_<BoundDecoder>(module, "Decoder").def(nb::init<const nb::dict&>());
  nb::class_<BoundWriting>(module, "Writing")
      .def(nb::init<const BoundDecoder&, int, int>(), nb::keep_alive<1, 2>())
      .def("read", &BoundWriting::read, nb::arg().noconvert(), nb::arg())
      .def("add", &BoundWriting::add, nb::arg().noconvert(), nb::arg())
      .def("select", &BoundWriting::select);
}

}  // namespace
