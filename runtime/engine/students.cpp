// Python bindings of students, the same for all instruction sets: each is built from arrays and translates batches.
#include "arrays.h"
#include "parts.h"

namespace {

// A student with weights of type T.
template <class T>
class BoundStudent {
 public:
  static inline MakeStudent make;

  explicit BoundStudent(const nb::dict& given) {
    StudentParts parts;
    parts.embedding = table(given, "embedding");
    parts.source_embedding = table(given, "source_embedding");
    for (const nb::handle item : nb::cast<nb::list>(given["encoder"])) {
      const nb::dict layer = nb::cast<nb::dict>(item);
      parts.encoder.push_back({heads(layer, "heads"), linear(layer, "projections"), linear(layer, "out"),
                               norm(layer, "attention_norm"), linear(layer, "inner"), linear(layer, "outer"),
                               norm(layer, "feed_forward_norm")});
    }
    parts.decoder_depth = nb::cast<int>(given["decoder_depth"]);
    parts.recurrent = nb::cast<bool>(given["recurrent"]);
    for (const nb::handle item : nb::cast<nb::list>(given["decoder"])) {
      const nb::dict layer = nb::cast<nb::dict>(item);
      DecoderParts one;
      if (parts.recurrent) {
        one.gates = linear(layer, "gates");
      } else {
        one.self_heads = heads(layer, "self_heads");
        one.self_projections = linear(layer, "self_projections");
        one.self_out = linear(layer, "self_out");
      }
      one.self_norm = norm(layer, "self_norm");
      one.heads = heads(layer, "heads");
      one.query = linear(layer, "query");
      one.memory = linear(layer, "memory");
      one.out = linear(layer, "out");
      one.attention_norm = norm(layer, "attention_norm");
      one.inner = linear(layer, "inner");
      one.outer = linear(layer, "outer");
      one.feed_forward_norm = norm(layer, "feed_forward_norm");
      parts.decoder.push_back(one);
    }
    parts.output = linear(given, "output");
    for (const char* name : {"weight", "step", "bias"}) kept_.push_back(part(given, "output")[name]);
    student_ = make(parts);
  }

  void positions(const Numbers<float, 2>& table) {
    positions_ = table;
    student_->positions(table.data());
  }

  void choose(const Numbers<int32_t, 1>& pieces) {
    const nb::gil_scoped_release release;
    student_->choose(pieces.data(), pieces.size());
  }

  std::vector<Pieces> translate(const Pieces& pieces, const std::vector<int>& lengths, const std::vector<int>& limits,
                                bool unknown) {
    const nb::gil_scoped_release release;
    return student_->translate(pieces, lengths, limits, unknown);
  }

  void start(const Pieces& pieces, const std::vector<int>& lengths) {
    const nb::gil_scoped_release release;
    student_->start(pieces, lengths);
  }

  Result<2> step(const Pieces& pieces) {
    const auto rows = static_cast<size_t>(student_->rows()), padded = static_cast<size_t>(student_->padded());
    auto outputs = make_result<2>({rows, padded}, student_->columns());
    float* to = outputs.data();
    const nb::gil_scoped_release release;
    student_->step(pieces, to);
    return outputs;
  }

  void select(const std::vector<int>& from) { student_->select(from); }

 private:
  template <class N, size_t DIMENSIONS = 1>
  static Numbers<N, DIMENSIONS> numbers(const nb::dict& values, const char* name) {
    Numbers<N, DIMENSIONS> found;
    if (!nb::try_cast(values[name], found, false))
      throw nb::type_error(
          (std::string(name) + ": expected an array without gaps, of the numbers that this student has").c_str());
    return found;
  }

  static nb::dict part(const nb::dict& parts, const char* name) { return nb::cast<nb::dict>(parts[name]); }

  static LinearParts linear(const nb::dict& parts, const char* name) {
    const nb::dict values = part(parts, name);
    const auto weight = numbers<T, 2>(values, "weight");
    return {weight.data(),
            static_cast<int>(weight.shape(0)),
            static_cast<int>(weight.shape(1)),
            numbers<float>(values, "step").data(),
            numbers<float>(values, "bias").data(),
            nb::cast<float>(values["scale"])};
  }

  static Heads heads(const nb::dict& parts, const char* name) {
    const nb::dict values = part(parts, name);
    return {nb::cast<int>(values["count"]), nb::cast<int>(values["size"]), nb::cast<float>(values["scale"])};
  }

  // Return numbers that the student reads in place, and keep them alive.
  const float* keep(const nb::dict& values, const char* name) {
    kept_.push_back(values[name]);
    return numbers<float>(values, name).data();
  }

  Norm norm(const nb::dict& parts, const char* name) {
    const nb::dict values = part(parts, name);
    return {keep(values, "gain"), keep(values, "bias")};
  }

  TableParts table(const nb::dict& parts, const char* name) {
    const nb::dict values = part(parts, name);
    const auto weight = numbers<T, 2>(values, "weight");
    kept_.push_back(values["weight"]);
    return {weight.data(), static_cast<int>(weight.shape(0)), static_cast<int>(weight.shape(1)), keep(values, "scale")};
  }

  std::vector<nb::object> kept_;
  Numbers<float, 2> positions_;
  std::unique_ptr<AnyStudent> student_;
};

template <class T>
void bind_student(nb::module_& module, const char* name, MakeStudent make) {
  using Bound = BoundStudent<T>;
  Bound::make = make;
  nb::class_<Bound>(module, name)
      .def(nb::init<const nb::dict&>())
      .def("positions", &Bound::positions, nb::arg().noconvert())
      .def("choose", &Bound::choose, nb::arg().noconvert())
      .def("translate", &Bound::translate)
      .def("start", &Bound::start)
      .def("step", &Bound::step)
      .def("select", &Bound::select);
}

}  // namespace

void bind_students(nb::module_& module, MakeStudent int8, MakeStudent float32, MakeStudent bfloat16) {
  bind_student<int8_t>(module, "Int8Student", int8);
  bind_student<float>(module, "Float32Student", float32);
  if (bfloat16) bind_student<int16_t>(module, "Bfloat16Student", bfloat16);
}
