// The shape of a student, from its config.json: architecture.py in C++.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

struct LayerShape {
  int heads = 0, head_size = 0, feed_forward = 0, self_heads = 0;
};

struct Architecture {
  int vocabulary = 0, embedding = 0, decoder_depth = 0;
  std::vector<LayerShape> encoder, decoder;  // distinct layers
  bool recurrent = true;                     // SSRU instead of self-attention
  std::optional<int> source_vocabulary;      // if the source has its own pieces

  // Throws InputError with the key that is missing, unknown, or has an impossible value.
  explicit Architecture(const nlohmann::json& values);

  int64_t parameters() const;
};
