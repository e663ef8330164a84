// Python bindings of the linear maps on quantized weights.
#pragma once

#include <optional>

#include "arrays.h"
#include "int4_linear.h"
#include "int8_linear.h"

namespace {

// Apply a map to x, float32 (rows, inputs); returns (rows, outputs).  bias: (outputs) or None.  multiply(x, rows, bias
// or null, y) writes y with its padding columns.
template <class Map, class Multiply>
Result<2> multiplied(const Map& linear, const Numbers<float, 2>& x, const std::optional<Numbers<float, 1>>& bias,
                     Multiply multiply) {
  const auto inputs = static_cast<size_t>(linear.inputs), outputs = static_cast<size_t>(linear.outputs());
  expect(x.shape(1) == inputs, "expected rows of " + std::to_string(inputs) + " numbers");
  expect(!bias || bias->size() == outputs, "expected a bias per output");
  auto y = make_result<2>({x.shape(0), static_cast<size_t>(linear.padded())}, outputs);
  const nb::gil_scoped_release release;
  const Released<Int8> released;
  multiply(x.data(), static_cast<int>(x.shape(0)), bias ? bias->data() : nullptr, y.data());
  return y;
}

template <class Map>
struct BoundLinear {
  Map linear;

  // scale: as for CodedLinear.
  Result<2> multiply(const Numbers<float, 2>& x, const std::optional<Numbers<float, 1>>& bias, float scale,
                     Activation kind) const {
    return multiplied(linear, x, bias, [&](const float* from, int rows, const float* offsets, float* to) {
      linear(from, rows, offsets, scale, kind, to);
    });
  }

  // Return the weights of the outputs `indices`, int64 (n), as float32 (n, inputs).
  Result<2> rows(const Numbers<int64_t, 1>& indices) const {
    const auto inputs = static_cast<size_t>(linear.inputs);
    auto found = make_result<2>({indices.size(), inputs}, inputs);
    for (size_t i = 0; i < indices.size(); ++i) {
      const int64_t index = indices.data()[i];
      if (index < 0 || index >= linear.outputs())
        throw nb::index_error(("row " + std::to_string(index) + " of " + std::to_string(linear.outputs())).c_str());
      linear.row(static_cast<int>(index), found.data() + i * inputs);
    }
    return found;
  }
};

struct BoundInt8Linear : BoundLinear<Int8Linear> {
  // codes: int8 (outputs, inputs); step: float32 (outputs).
  BoundInt8Linear(const Numbers<int8_t, 2>& codes, const Numbers<float, 1>& step)
      : BoundLinear{{codes.data(), static_cast<int>(codes.shape(0)), static_cast<int>(codes.shape(1)), step.data()}} {
    expect(step.size() == codes.shape(0), "expected a step per output");
  }
};

struct BoundInt4Linear : BoundLinear<Int4Linear> {
  // codes: int8 (outputs, inputs padded to whole groups); steps: float32 (outputs, groups).
  BoundInt4Linear(const Numbers<int8_t, 2>& codes, const Numbers<float, 2>& steps, int inputs)
      : BoundLinear{{checked(codes, steps, inputs), static_cast<int>(codes.shape(0)), inputs, steps.data()}} {}

  static const int8_t* checked(const Numbers<int8_t, 2>& codes, const Numbers<float, 2>& steps, int inputs) {
    expect(inputs >= 0 && codes.shape(1) == static_cast<size_t>(round_up(inputs, Int4Linear::GROUP)) &&
               steps.shape(0) == codes.shape(0) && steps.shape(1) * Int4Linear::GROUP == codes.shape(1),
           "expected whole groups of codes, and a step for each");
    return codes.data();
  }
};

template <class Bound>
void bind_linear(nb::class_<Bound>& made) {
  const auto array = nb::arg().noconvert();
  made.def("multiply", &Bound::multiply, array, nb::arg().noconvert().none(), nb::arg(), nb::arg())
      .def("rows", &Bound::rows, array);
}

}  // namespace
