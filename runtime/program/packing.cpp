#include "packing.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <set>

#include "input_error.h"

namespace {

constexpr int VECTOR = 16;  // numbers of a head are padded to a multiple of this

int padded(int number) { return (number + VECTOR - 1) / VECTOR * VECTOR; }

template <class T>
struct Matrix {
  const T* data = nullptr;
  int64_t rows = 0, columns = 0;
};

// T: int8_t or float.
template <class T>
class Packer {
 public:
  explicit Packer(const Weights& weights) : weights_(weights) {}

  Packed network() {
    const Architecture& shape = weights_.architecture;
    StudentParts parts;
    parts.embedding = parts.source_embedding = table("embedding");
    if (shape.source_vocabulary) parts.source_embedding = table("source_embedding");
    for (size_t index = 0; index < shape.encoder.size(); ++index) {
      const std::string place = "encoder." + std::to_string(index), attention = place + ".self_attention";
      const LayerShape& layer = shape.encoder[index];
      parts.encoder.push_back(
          {heads(layer.heads, layer.head_size), projections(attention, layer.head_size, {"query", "key", "value"}),
           out(attention, layer.head_size), norm(place + ".attention_norm"), linear({place + ".feed_forward.inner"}),
           linear({place + ".feed_forward.outer"}), norm(place + ".feed_forward_norm")});
    }
    for (size_t index = 0; index < shape.decoder.size(); ++index) {
      const std::string place = "decoder." + std::to_string(index), attention = place + ".cross_attention";
      const std::string own = place + ".self_attention", unit = place + ".recurrence";
      const LayerShape& layer = shape.decoder[index];
      DecoderParts one;
      if (shape.recurrent) {
        one.gates = linear({unit + ".candidate", unit + ".forget"});
      } else {
        one.self_heads = heads(layer.self_heads, layer.head_size);
        one.self_projections = projections(own, layer.head_size, {"query", "key", "value"});
        one.self_out = out(own, layer.head_size);
      }
      one.self_norm = norm(place + ".self_norm");
      one.heads = heads(layer.heads, layer.head_size);
      one.query = projections(attention, layer.head_size, {"query"});
      one.memory = projections(attention, layer.head_size, {"key", "value"});
      one.out = out(attention, layer.head_size);
      one.attention_norm = norm(place + ".cross_norm");
      one.inner = linear({place + ".feed_forward.inner"});
      one.outer = linear({place + ".feed_forward.outer"});
      one.feed_forward_norm = norm(place + ".feed_forward_norm");
      parts.decoder.push_back(one);
    }
    parts.decoder_depth = shape.decoder_depth;
    parts.recurrent = shape.recurrent;
    parts.output = linear({"output"});
    return {parts, numbers_, copies_};
  }

 private:
  static constexpr bool INTEGER = sizeof(T) == 1;

  T* room(int64_t size) { return copies_->emplace_back(size).data(); }
  float* float_room(int64_t size) { return numbers_->emplace_back(size).data(); }

  static Heads heads(int count, int size) {
    return {count, padded(size), static_cast<float>(1 / std::sqrt(static_cast<double>(size)))};
  }

  const Tensor& tensor(const std::string& name) const { return weights_.tensors.at(name); }

  Norm norm(const std::string& name) const {
    return {tensor(name + ".weight").template as<float>(), tensor(name + ".bias").template as<float>()};
  }

  TableParts table(const std::string& name) {
    const Matrix<T> found = weight(name);
    float* scale = float_room(found.rows);
    for (int64_t n = 0; n < found.rows; ++n) scale[n] = weight_scale(name, n);
    return {found.data, static_cast<int>(found.rows), static_cast<int>(found.columns), scale};
  }

  // Stack maps of the same input.
  LinearParts linear(const std::vector<std::string>& names) {
    std::vector<Matrix<T>> found;
    std::set<float> scales;
    int64_t rows = 0;
    for (const std::string& name : names) {
      const Matrix<T>& one = found.emplace_back(weight(name));
      rows += one.rows;
      const auto scale = weights_.tensors.find(name + ".activation_scale");
      if (INTEGER && one.rows && one.columns)
        scales.insert(scale == weights_.tensors.end() ? 1 : *scale->second.as<float>());
    }
    if (scales.size() > 1)
      throw InputError("maps of one input have several activation scales; quantize the model again");
    LinearParts parts;
    parts.scale = scales.empty() ? 1 : *scales.begin();
    parts.inputs = static_cast<int>(found[0].columns);
    parts.outputs = static_cast<int>(rows);
    parts.weight = found[0].data;
    T* to = names.size() > 1 ? room(rows * parts.inputs) : nullptr;
    if (to) parts.weight = to;
    float *steps = float_room(rows), *biases = float_room(rows);
    parts.step = steps, parts.bias = biases;
    for (size_t i = 0; i < names.size(); ++i) {
      if (to) to = std::copy_n(found[i].data, found[i].rows * found[i].columns, to);
      const auto bias = weights_.tensors.find(names[i] + ".bias");
      for (int64_t n = 0; n < found[i].rows; ++n) {
        *steps++ = INTEGER ? 1.0f / (parts.scale * weight_scale(names[i], n)) : 1.0f;
        *biases++ = bias == weights_.tensors.end() ? 0.0f : bias->second.as<float>()[n];
      }
    }
    return parts;
  }

  // Join some of query, key and value into one map; the outputs of each head are padded with zeros.
  LinearParts projections(const std::string& attention, int size, std::vector<std::string> names) {
    for (std::string& name : names) name = attention + "." + name;
    LinearParts parts = linear(names);
    const int wide = padded(size), count = parts.outputs / size, inputs = parts.inputs;
    T* weight = room(static_cast<int64_t>(count) * wide * inputs);
    float *step = float_room(count * wide), *bias = float_room(count * wide);
    for (int head = 0; head < count; ++head) {
      std::copy_n(static_cast<const T*>(parts.weight) + static_cast<int64_t>(head) * size * inputs,
                  static_cast<int64_t>(size) * inputs, weight + static_cast<int64_t>(head) * wide * inputs);
      std::copy_n(parts.step + head * size, size, step + head * wide);
      std::copy_n(parts.bias + head * size, size, bias + head * wide);
    }
    parts.weight = weight, parts.step = step, parts.bias = bias, parts.outputs = count * wide;
    return parts;
  }

  // The output map; its inputs are padded like the heads.
  LinearParts out(const std::string& attention, int size) {
    LinearParts parts = linear({attention + ".out"});
    const int wide = padded(size), count = parts.inputs / size;
    T* weight = room(static_cast<int64_t>(parts.outputs) * count * wide);
    for (int64_t n = 0; n < parts.outputs; ++n)
      for (int head = 0; head < count; ++head)
        std::copy_n(static_cast<const T*>(parts.weight) + n * parts.inputs + head * size, size,
                    weight + (n * count + head) * wide);
    parts.weight = weight, parts.inputs = count * wide;
    return parts;
  }

  float weight_scale(const std::string& name, int64_t row) const {
    const auto found = INTEGER ? weights_.tensors.find(owner(name) + ".quantized.scale") : weights_.tensors.end();
    if (found == weights_.tensors.end()) return 1;
    return found->second.as<float>()[found->second.shape.empty() ? 0 : row];
  }

  Matrix<T> weight(const std::string& name) {
    const auto plain = weights_.tensors.find(owner(name) + ".weight");
    if (plain != weights_.tensors.end()) {
      const Shape& shape = plain->second.shape;
      if constexpr (INTEGER) {
        if (plain->second.size())
          throw InputError(
              "the engine cannot hold this model (weights left in float32); `weebill translate` can, by PyTorch");
        return {nullptr, shape[0], shape[1]};
      } else {
        return {plain->second.as<float>(), shape[0], shape[1]};
      }
    }
    const Tensor& codes = tensor(owner(name) + ".quantized.codes");
    if constexpr (INTEGER) {
      return {codes.as<int8_t>(), codes.shape[0], codes.shape[1]};
    } else {
      return decoded(owner(name), codes);
    }
  }

  // Decode a weight on a grid to float32, once.
  Matrix<float> decoded(const std::string& name, const Tensor& codes) {
    const auto [known, fresh] = decoded_.try_emplace(name);
    if (!fresh) return known->second;
    const Tensor& scale = tensor(name + ".quantized.scale");
    const auto [rows, columns] = shape(name, codes);
    float* to = float_room(rows * columns);
    const std::vector<float>& listed = weights_.listed;
    for (int64_t i = 0; i < rows * columns; ++i)
      if (listed.empty()) {
        to[i] = codes.as<int8_t>()[i] / scale.as<float>()[scale.shape.empty() ? 0 : i / columns];
      } else {
        const bool halves = listed.size() <= HALVES;
        const int code = halves ? codes.as<uint8_t>()[i / 2] >> i % 2 * 4 & 15 : codes.as<uint8_t>()[i];
        to[i] = listed[code] * scale.as<float>()[0];
      }
    return known->second = {to, rows, columns};
  }

  // Return rows and columns of a weight.  The size of 4-bit codes does not determine them, but one of the two is the
  // width, which is even.
  std::pair<int64_t, int64_t> shape(const std::string& name, const Tensor& codes) const {
    if (codes.shape.size() == 2) return {codes.shape[0], codes.shape[1]};
    const int64_t width = weights_.architecture.embedding, other = 2 * codes.size() / width;
    const bool outer = name.ends_with(".out") || name.ends_with(".outer");
    return outer ? std::pair{width, other} : std::pair{other, width};
  }

  const Weights& weights_;
  // deque: arrays stay in place while others are added
  std::shared_ptr<std::deque<std::vector<T>>> copies_ = std::make_shared<std::deque<std::vector<T>>>();
  std::shared_ptr<std::deque<std::vector<float>>> numbers_ = std::make_shared<std::deque<std::vector<float>>>();
  std::map<std::string, Matrix<float>> decoded_;
};

}  // namespace

Packed pack(const Weights& weights) {
  if (weights.architecture.embedding % VECTOR)
    throw InputError("the engine cannot hold this model (its width is no multiple of " + std::to_string(VECTOR) +
                     "); `weebill translate` can, by PyTorch");
  return weights.integer() ? Packer<int8_t>(weights).network() : Packer<float>(weights).network();
}
