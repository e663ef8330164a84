// Python bindings for models that do not consist of a student's layers: linear maps, attention and decoders.
#include <algorithm>
#include <optional>
#include <vector>

#include "attention.h"
#include "bound_decoder.h"
#include "split_linear.h"

namespace {

#ifdef MATRIX_UNIT

// A float32 linear map, for Python.
struct BoundSplitLinear {
  SplitLinear linear;

  // weight: float32 (outputs, inputs).
  explicit BoundSplitLinear(const Numbers<float, 2>& weight)
      : linear(weight.data(), static_cast<int>(weight.shape(0)), static_cast<int>(weight.shape(1))) {}

  Result<2> multiply(const Numbers<float, 2>& x, const std::optional<Numbers<float, 1>>& bias, Activation kind) const {
    return multiplied(linear, x, bias, [&](const float* from, int rows, const float* offsets, float* to) {
      linear(from, rows, offsets, kind, to);
    });
  }
};

#endif

// Attend from one query for each sentence: query (b, h, 1, k), keys and values (b, h, n, k), mask bool (b or 1, n) or
// None; returns (b, 1, h, k).  k is a multiple of 16, and the numbers of a head are contiguous.
Result<4> attend_one(const Strided<float, 4>& query, const Strided<float, 4>& keys, const Strided<float, 4>& values,
                     const std::optional<Strided<bool, 2>>& mask, float scale) {
  const int sentences = static_cast<int>(query.shape(0)), heads = static_cast<int>(query.shape(1));
  const int head = static_cast<int>(query.shape(3)), positions = static_cast<int>(keys.shape(2));
  expect(head % VECTOR == 0 && query.shape(2) == 1, "expected one query of a multiple of 16 numbers");
  expect(query.stride(3) == 1 && keys.stride(3) == 1 && values.stride(3) == 1, "expected whole heads");
  auto out = make_result<4>({query.shape(0), 1, query.shape(1), query.shape(3)}, query.shape(3));
  std::vector<int32_t> entries(positions);
  std::vector<float> weights(round_up(positions, VECTOR));
  for (int b = 0; b < sentences; ++b) {
    int length = 0;
    const bool* seen = mask ? mask->data() + (mask->shape(0) == 1 ? 0 : b) * mask->stride(0) : nullptr;
    for (int j = 0; j < positions; ++j)
      if (!seen || seen[j * mask->stride(1)]) entries[length++] = j;
    for (int h = 0; h < heads; ++h) {
      float* to = out.data() + (static_cast<size_t>(b) * heads + h) * head;
      const auto at = [=](const auto& x) { return x.data() + b * x.stride(0) + h * x.stride(1); };
      if (length)
        attend_entries(at(query), at(keys), keys.stride(2), at(values), values.stride(2), entries.data(), length, head,
                       scale, weights.data(), [=](int c, Floats y) { store(to + c, y); });
      else
        std::fill(to, to + head, 0.0f);
    }
  }
  return out;
}

}  // namespace

void bind_layers(nb::module_& module) {
  nb::enum_<Activation>(module, "Activation")
      .value("none", Activation::none)
      .value("relu", Activation::relu)
      .value("gelu", Activation::gelu)
      .value("gelu_tanh", Activation::gelu_tanh)
      .value("silu", Activation::silu);
  const auto array = nb::arg().noconvert();
  nb::class_<BoundInt8Linear> int8(module, "Int8Linear");
  int8.def(nb::init<const Numbers<int8_t, 2>&, const Numbers<float, 1>&>(), array, array);
  bind_linear(int8);
  nb::class_<BoundInt4Linear> int4(module, "Int4Linear");
  int4.def(nb::init<const Numbers<int8_t, 2>&, const Numbers<float, 2>&, int>(), array, array, nb::arg());
  bind_linear(int4);
#ifdef MATRIX_UNIT
  nb::class_<BoundSplitLinear>(module, "SplitLinear")
      .def(nb::init<const Numbers<float, 2>&>(), array)
      .def("multiply", &BoundSplitLinear::multiply, array, nb::arg().noconvert().none(), nb::arg());
#endif
  bind_decoder(module);
  module.def("attend", &attend_one, array, array, array, nb::arg().noconvert().none(), nb::arg());
}
