#include "architecture.h"

#include <algorithm>
#include <map>

#include "input_error.h"

namespace {

using Json = nlohmann::json;

struct Range {
  int least, most;
};

const std::map<std::string, Range> RANGES = {{"vocabulary", {1, 1 << 20}},   {"source_vocabulary", {1, 1 << 20}},
                                             {"embedding", {1, 1 << 14}},    {"decoder_depth", {1, 1 << 10}},
                                             {"heads", {0, 1 << 14}},        {"head_size", {1, 1 << 14}},
                                             {"feed_forward", {0, 1 << 20}}, {"self_heads", {0, 1 << 14}}};

std::string shown(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 60);
}

int whole(const Json& values, const std::string& name, const std::string& place) {
  const Json& value = values.at(name);
  const Range range = RANGES.at(name);
  if (!value.is_number_unsigned() || value.get<uint64_t>() < static_cast<uint64_t>(range.least) ||
      value.get<uint64_t>() > static_cast<uint64_t>(range.most))
    throw InputError(place + "." + name + ": " + shown(value) + ", expected a whole number from " +
                     std::to_string(range.least) + " to " + std::to_string(range.most));
  return value.get<int>();
}

void check_keys(const Json& values, const std::string& place, const std::vector<std::string>& needed,
                const std::vector<std::string>& others) {
  if (!values.is_object()) throw InputError(place + ": " + shown(values) + ", expected keys and values");
  const auto within = [](const auto& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const auto& [name, value] : values.items())
    if (!within(needed, name) && !within(others, name)) throw InputError(place + ": unknown key " + in_quotes(name));
  for (const std::string& name : needed)
    if (!values.contains(name)) throw InputError(place + ": key '" + name + "' is missing");
}

std::vector<LayerShape> layers(const Json& values, const std::string& side) {
  const std::string place = "architecture." + side;
  const Json& list = values.at(side);
  if (!list.is_array() || list.empty())
    throw InputError(place + ": " + shown(list) + ", expected a list of at least one layer");
  std::vector<LayerShape> found;
  for (const Json& layer : list) {
    const std::string here = place + "[" + std::to_string(found.size()) + "]";
    check_keys(layer, here, {"heads", "head_size", "feed_forward"}, {"self_heads"});
    found.push_back({whole(layer, "heads", here), whole(layer, "head_size", here), whole(layer, "feed_forward", here),
                     layer.contains("self_heads") ? whole(layer, "self_heads", here) : 0});
  }
  return found;
}

}  // namespace

Architecture::Architecture(const Json& values) {
  const std::string place = "architecture";
  check_keys(values, place, {"vocabulary", "embedding", "encoder", "decoder", "decoder_depth"},
             {"decoder_kind", "source_vocabulary"});
  vocabulary = whole(values, "vocabulary", place);
  embedding = whole(values, "embedding", place);
  decoder_depth = whole(values, "decoder_depth", place);
  encoder = layers(values, "encoder");
  decoder = layers(values, "decoder");
  if (values.contains("source_vocabulary")) source_vocabulary = whole(values, "source_vocabulary", place);
  if (values.contains("decoder_kind")) {
    const Json& kind = values.at("decoder_kind");
    if (kind != "ssru" && kind != "attention")
      throw InputError(place + ".decoder_kind: " + shown(kind) + ", expected ssru or attention");
    recurrent = kind == "ssru";
  }
  if (decoder.size() != 1 && static_cast<int>(decoder.size()) != decoder_depth)
    throw InputError(place + ".decoder: " + std::to_string(decoder.size()) + " layers where decoder_depth is " +
                     std::to_string(decoder_depth) + ", expected as many, or 1 that is tied");
}

int64_t Architecture::parameters() const {
  const int64_t width = embedding, normalisation = 2 * width;
  const auto attention = [=](int64_t heads_width) { return 4 * width * heads_width + 3 * heads_width + width; };
  int64_t count = vocabulary * (width + 1) + source_vocabulary.value_or(0) * width;
  for (const auto* side : {&encoder, &decoder})
    for (const LayerShape& layer : *side) {
      const int64_t neurons = layer.feed_forward, head = layer.head_size;
      count += attention(layer.heads * head) + normalisation;
      count += 2 * width * neurons + neurons + width + normalisation;
      if (side == &decoder)
        count += (recurrent ? 2 * width * width + width : attention(layer.self_heads * head)) + normalisation;
    }
  return count;
}
