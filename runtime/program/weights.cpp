#include "weights.h"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "input_error.h"

namespace {

using Json = nlohmann::json;
using Shapes = std::map<std::string, Shape>;  // in the order of names, in which a file stores float32 numbers

const std::string CODES = ".quantized.codes", SCALE = ".quantized.scale", ACTIVATION_SCALE = ".activation_scale";
const std::string STORED = ".codes", NUMBERS = "float32";

struct LinearShape {
  int64_t outputs, inputs;
  bool bias;
};

// Return the names of all linear maps except the output.
std::map<std::string, LinearShape> linear_maps(const Architecture& architecture) {
  const int64_t width = architecture.embedding;
  std::map<std::string, LinearShape> found;
  const auto attention = [&](const std::string& place, int64_t heads, int64_t size) {
    for (const char* name : {"query", "key", "value"}) found[place + "." + name] = {heads * size, width, true};
    found[place + ".out"] = {width, heads * size, true};
  };
  const auto side = [&](const std::string& name, const std::vector<LayerShape>& layers, bool decodes) {
    for (size_t index = 0; index < layers.size(); ++index) {
      const LayerShape& layer = layers[index];
      const std::string place = name + "." + std::to_string(index);
      if (decodes && architecture.recurrent) {
        found[place + ".recurrence.candidate"] = {width, width, false};
        found[place + ".recurrence.forget"] = {width, width, true};
      } else {
        attention(place + ".self_attention", decodes ? layer.self_heads : layer.heads, layer.head_size);
      }
      if (decodes) attention(place + ".cross_attention", layer.heads, layer.head_size);
      found[place + ".feed_forward.inner"] = {layer.feed_forward, width, true};
      found[place + ".feed_forward.outer"] = {width, layer.feed_forward, true};
    }
  };
  side("encoder", architecture.encoder, false);
  side("decoder", architecture.decoder, true);
  return found;
}

// Return the shape of each float32 tensor of a network; tied ones occur once.
Shapes shapes(const Architecture& architecture) {
  const int64_t width = architecture.embedding, pieces = architecture.vocabulary;
  Shapes found = {{"embedding.weight", {pieces, width}}, {"output.bias", {pieces}}};
  if (architecture.source_vocabulary) found["source_embedding.weight"] = {*architecture.source_vocabulary, width};
  for (const auto& [name, map] : linear_maps(architecture)) {
    found[name + ".weight"] = {map.outputs, map.inputs};
    if (map.bias) found[name + ".bias"] = {map.outputs};
  }
  const auto norms = [&](const std::string& side, size_t layers, std::initializer_list<const char*> names) {
    for (size_t index = 0; index < layers; ++index)
      for (const char* name : names)
        for (const char* one : {".weight", ".bias"})
          found[side + "." + std::to_string(index) + "." + name + one] = {width};
  };
  norms("encoder", architecture.encoder.size(), {"attention_norm", "feed_forward_norm"});
  norms("decoder", architecture.decoder.size(), {"self_norm", "cross_norm", "feed_forward_norm"});
  return found;
}

// Read a section `quantization`.
struct Quantization {
  std::string grid;
  bool activations = false;
  std::vector<std::string> skip;
  std::vector<float> listed;  // as in Weights

  explicit Quantization(const Json& section) {
    const auto expect = [](bool holds, const std::string& key, const char* what) {
      if (!holds) throw InputError("quantization" + key + ": expected " + what);
    };
    expect(section.is_object(), "", "keys and values");
    for (const auto& [key, value] : section.items()) {
      const bool patterns = value.is_array() &&
                            std::all_of(value.begin(), value.end(), [](const Json& one) { return one.is_string(); });
      if (key == "grid")
        expect(value.is_string(), ".grid", "a name");
      else if (key == "activation_scale")
        expect(value.is_string() || value.is_null(), ".activation_scale", "a name or null");
      else if (key == "skip")
        expect(patterns, ".skip", "a list of name patterns");
      else if (key == "numbers")
        expect(numbers(value), ".numbers", "a list of 1 to 256 numbers");
      else
        throw InputError("quantization." + key.substr(0, 60) + ": unknown");
    }
    grid = section.value("grid", "");
    activations = section.contains("activation_scale") && !section["activation_scale"].is_null();
    skip = section.value("skip", skip);
    const bool known = integer() || grid == "log4", lists = section.contains("numbers");
    if (!known && !lists) throw InputError("no quantization grid " + in_quotes(grid));
    if (known && lists) throw InputError("quantization.numbers: " + grid + " has numbers of its own; leave them out");
    if (lists)
      listed = section["numbers"].get<std::vector<float>>();
    else if (!integer())
      for (const float sign : {1.0f, -1.0f})
        for (int k = -7; k <= 0; ++k) listed.push_back(std::ldexp(sign, k));
    if (!listed.empty()) listed.resize(halves() ? HALVES : 256);  // codes of a damaged file stand for 0
  }

  bool integer() const { return grid == "int8" || grid == "int8_rowwise"; }

  bool halves() const { return !listed.empty() && listed.size() <= HALVES; }

  static bool numbers(const Json& value) {
    const auto finite = [](const Json& one) {
      return one.is_number() && std::isfinite(static_cast<float>(one.get<double>()));
    };
    return value.is_array() && !value.empty() && value.size() <= 256 && std::all_of(value.begin(), value.end(), finite);
  }

  bool skips(const std::string& name) const {
    return std::any_of(skip.begin(), skip.end(), [&](const std::string& pattern) {
      return fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
    });
  }
};

// Return the shape of each tensor of a network on a grid; codes have their stored shape.
Shapes quantized_shapes(const Architecture& architecture, const Quantization& section) {
  Shapes found = shapes(architecture);
  std::set<std::string> maps = {"output"}, chosen;
  for (const auto& [name, map] : linear_maps(architecture)) maps.insert(name);
  std::set<std::string> names = maps;
  names.insert({"embedding", "source_embedding"});
  for (const std::string& name : names) {
    const auto shape = found.find(owner(name) + ".weight");
    if (shape != found.end() && product(shape->second) && !section.skips(name)) chosen.insert(name);
  }
  if (chosen.contains("embedding") != chosen.contains("output"))
    throw InputError("quantization.skip: embedding shares its weight with output; skip both");
  for (const std::string& name : chosen) {
    if (name != "output") {
      const Shape shape = found.at(name + ".weight");
      found.erase(name + ".weight");
      found[name + CODES] = section.halves() ? Shape{(product(shape) + 1) / 2} : shape;
      found[name + SCALE] = section.grid == "int8_rowwise" ? Shape{shape[0], 1} : Shape{};
    }
    if (maps.contains(name) && section.activations) found[name + ACTIVATION_SCALE] = {};
  }
  return found;
}

// Return the tensors of a file on a grid, by their names in a network with the shapes `like`.
std::map<std::string, Tensor> separated(std::map<std::string, Tensor> stored, const Shapes& like) {
  std::map<std::string, Tensor> found;
  const auto numbers = stored.extract(NUMBERS);
  for (auto& [name, tensor] : stored)
    found[name.ends_with(STORED) ? name.substr(0, name.size() - STORED.size()) + CODES : name] = std::move(tensor);
  if (numbers.empty()) throw InputError("no tensor float32 beside the codes; make the model again");
  int64_t count = 0;
  for (const auto& [name, shape] : like)
    if (!name.ends_with(CODES)) {
      const int64_t size = product(shape);
      if (count + size > numbers.mapped().size())
        throw InputError("fewer float32 numbers than config.json describes; make the model again");
      found[name] = {"F32", shape, numbers.mapped().as<float>() + count};
      count += size;
    }
  if (count != numbers.mapped().size())
    throw InputError(std::to_string(numbers.mapped().size()) +
                     " float32 numbers beside the codes, by config.json there are " + std::to_string(count) +
                     "; make the model again");
  return found;
}

void check_tensors(const std::map<std::string, Tensor>& tensors, const Shapes& like, bool listed) {
  for (const auto& [name, shape] : like)
    if (!tensors.contains(name)) throw InputError("tensor " + name + " is missing; make the model again");
  for (const auto& [name, tensor] : tensors) {
    const auto expected = like.find(name);
    if (expected == like.end())
      throw InputError("tensor " + in_quotes(name) + " is not expected; make the model again");
    if (tensor.shape != expected->second)
      throw InputError(name + " has another shape than by the architecture; make the model again");
    if (tensor.kind != "F32") continue;
    const float* numbers = tensor.as<float>();
    const bool scale = name.ends_with(SCALE) || name.ends_with(ACTIVATION_SCALE);
    const bool zero = name.ends_with(SCALE) && listed;  // of a weight that is all zero
    for (int64_t i = 0; i < tensor.size(); ++i) {
      const bool good = std::isfinite(numbers[i]) && (!scale || numbers[i] > 0 || (zero && numbers[i] == 0));
      if (!good)
        throw InputError(name + ": " + std::to_string(numbers[i]) + ", expected a " +
                         (scale ? "number above 0" : "finite number") +
                         "; the model has diverged, or the file is damaged: make the model again");
    }
  }
}

}  // namespace

Weights read_weights(const std::string& folder, const Json& config, const Architecture& architecture) {
  const std::string file = folder + "/model.safetensors", settings = folder + "/config.json";
  Weights found{architecture, nullptr, {}, "", {}};
  const auto placed = [](const std::string& place, const std::function<void()>& work) {
    try {
      work();
    } catch (const InputError& error) {
      throw InputError(place + ": " + error.what());
    }
  };
  Shapes like;
  std::string codes = "F32";
  placed(settings, [&] {
    if (!config.contains("quantization")) {
      like = shapes(architecture);
      return;
    }
    const Quantization section(config["quantization"]);
    found.grid = section.grid;
    found.listed = section.listed;
    like = quantized_shapes(architecture, section);
    codes = section.integer() ? "I8" : "U8";
  });
  try {
    TensorFile read = read_tensors(file, [&](const std::string& name) {
      return std::vector{name.ends_with(STORED) ? codes : std::string("F32")};
    });
    found.file = read.file;
    found.tensors = std::move(read.tensors);
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    throw InputError(file + ": missing or damaged (" + error.what() + "); make the model again");
  }
  placed(file, [&] {
    if (!found.grid.empty()) found.tensors = separated(std::move(found.tensors), like);
    check_tensors(found.tensors, like, !found.listed.empty());
  });
  if (config.contains("parameters") && config["parameters"] != architecture.parameters())
    throw InputError(settings + ": the network that it describes has " + std::to_string(architecture.parameters()) +
                     " parameters, and it says another number; make the model again");
  return found;
}
