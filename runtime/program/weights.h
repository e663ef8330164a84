// Weights of a student by their names in the network: weights.py in C++.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "architecture.h"
#include "tensor_file.h"

struct Weights {
  Architecture architecture;
  std::shared_ptr<MappedFile> file;  // on which the tensors lie
  std::map<std::string, Tensor> tensors;
  std::string grid;  // of codes; empty where there are none

  // Return true if products run on codes.
  bool integer() const { return tensors.contains("output.activation_scale"); }
};

// Read the tensors of a model folder, whose config.json is given.  Throws InputError unless they are what it
// describes.
Weights read_weights(const std::string& folder, const nlohmann::json& config, const Architecture& architecture);

// The weight of the output is the embedding's.
inline std::string owner(const std::string& name) { return name == "output" ? "embedding" : name; }
