// What Python sees for models that are not made of students' layers: linear maps on int8 codes, and attention.
#include <algorithm>
#include <optional>
#include <vector>

#include "attention.h"
#include "int8_linear.h"
#include "split_linear.h"
#include "tensors.h"

namespace {

// x: float32 (rows, inputs) → (rows, outputs).  bias: (outputs) or None.  multiply(x, rows, bias or null, y): with
// padding columns in y.
template <class Map, class Multiply>
Tensor multiplied(const Map& linear, const Tensor& x, const std::optional<Tensor>& bias, Multiply multiply) {
  TORCH_CHECK(x.dim() == 2 && x.size(1) == linear.inputs, "expected rows of ", linear.inputs, " numbers");
  TORCH_CHECK(!bias || bias->is_contiguous() && bias->numel() == linear.outputs(), "expected a bias per output");
  const Tensor rows = x.contiguous();
  Tensor y = at::empty({rows.size(0), linear.padded()}, rows.options());
  const float *from = rows.data_ptr<float>(), *offsets = bias ? bias->data_ptr<float>() : nullptr;
  float* to = y.data_ptr<float>();
  {
    py::gil_scoped_release release;
    const Released<Int8> released;
    multiply(from, static_cast<int>(rows.size(0)), offsets, to);
  }
  return linear.padded() == linear.outputs() ? y : y.narrow(1, 0, linear.outputs());
}

// A linear map of any model, as Python calls it.
struct BoundInt8Linear {
  Int8Linear linear;

  // codes: int8 (outputs, inputs); step: float32 (outputs).
  BoundInt8Linear(const Tensor& codes, const Tensor& step)
      : linear(codes.contiguous().data_ptr<int8_t>(), static_cast<int>(codes.size(0)), static_cast<int>(codes.size(1)),
               step.contiguous().data_ptr<float>()) {}

  // scale: as of Int8Linear.
  Tensor multiply(const Tensor& x, const std::optional<Tensor>& bias, float scale, Activation kind) const {
    return multiplied(linear, x, bias, [&](const float* from, int rows, const float* offsets, float* to) {
      linear(from, rows, offsets, scale, kind, to);
    });
  }

  // indices: int64 (n) → the weights of these outputs, float32 (n, inputs).
  Tensor rows(const Tensor& indices) const {
    const Tensor chosen = indices.contiguous();
    const int64_t* index = chosen.data_ptr<int64_t>();
    Tensor found = at::empty({chosen.numel(), linear.inputs});
    for (int64_t i = 0; i < chosen.numel(); ++i) {
      TORCH_CHECK_INDEX(index[i] >= 0 && index[i] < linear.outputs(), "row ", index[i], " of ", linear.outputs());
      linear.row(static_cast<int>(index[i]), found.data_ptr<float>() + i * linear.inputs);
    }
    return found;
  }
};

#ifdef MATRIX_UNIT

// A linear map in float32, as Python calls it.
struct BoundSplitLinear {
  SplitLinear linear;

  // weight: float32 (outputs, inputs).
  explicit BoundSplitLinear(const Tensor& weight)
      : linear(weight.contiguous().data_ptr<float>(), static_cast<int>(weight.size(0)),
               static_cast<int>(weight.size(1))) {}

  Tensor multiply(const Tensor& x, const std::optional<Tensor>& bias, Activation kind) const {
    return multiplied(linear, x, bias, [&](const float* from, int rows, const float* offsets, float* to) {
      linear(from, rows, offsets, kind, to);
    });
  }
};

#endif

// What one query a sentence sees: query (b, h, 1, k), keys and values (b, h, n, k), mask bool (b or 1, n) or None
// → (b, 1, h, k).  k is a multiple of 16, and a head's numbers lie side by side.
Tensor attend_one(const Tensor& query, const Tensor& keys, const Tensor& values, const std::optional<Tensor>& mask,
              float scale) {
  const int sentences = static_cast<int>(query.size(0)), heads = static_cast<int>(query.size(1));
  const int head = static_cast<int>(query.size(3)), positions = static_cast<int>(keys.size(2));
  TORCH_CHECK(head % VECTOR == 0 && query.size(2) == 1, "expected one query of a multiple of 16 numbers");
  TORCH_CHECK(query.stride(3) == 1 && keys.stride(3) == 1 && values.stride(3) == 1, "expected whole heads");
  Tensor out = at::empty({sentences, 1, heads, head});
  std::vector<int32_t> entries(positions);
  std::vector<float> weights(round_up(positions, VECTOR));
  for (int b = 0; b < sentences; ++b) {
    int length = 0;
    const bool* seen = mask ? mask->data_ptr<bool>() + (mask->size(0) == 1 ? 0 : b) * mask->stride(0) : nullptr;
    for (int j = 0; j < positions; ++j)
      if (!seen || seen[j * mask->stride(1)]) entries[length++] = j;
    for (int h = 0; h < heads; ++h) {
      float* to = out.data_ptr<float>() + (static_cast<size_t>(b) * heads + h) * head;
      const auto at = [=](const Tensor& x) { return x.data_ptr<float>() + b * x.stride(0) + h * x.stride(1); };
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

void bind_layers(py::module_& module) {
  py::enum_<Activation>(module, "Activation", py::module_local())  // extensions of several sets may be loaded
      .value("none", Activation::none)
      .value("relu", Activation::relu)
      .value("gelu", Activation::gelu)
      .value("gelu_tanh", Activation::gelu_tanh);
  py::class_<BoundInt8Linear>(module, "Int8Linear", py::module_local())
      .def(py::init<const Tensor&, const Tensor&>())
      .def("multiply", &BoundInt8Linear::multiply)
      .def("rows", &BoundInt8Linear::rows);
#ifdef MATRIX_UNIT
  py::class_<BoundSplitLinear>(module, "SplitLinear", py::module_local())
      .def(py::init<const Tensor&>())
      .def("multiply", &BoundSplitLinear::multiply);
#endif
  module.def("attend", &attend_one);
}
