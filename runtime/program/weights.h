// Weights of a student by their names in the network: weights.py in C++.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "architecture.h"
#include "tensor_file.h"

constexpr size_t HALVES = 16;  // a grid of so many listed numbers stores two codes in a byte; others have up to 256

struct Weights {
  Architecture architecture;
  std::shared_ptr<MappedFile> file;  // holds the tensors
  std::map<std::string, Tensor> tensors;
  std::string grid;           // of the codes; empty if there are none
  std::vector<float> listed;  // numbers of the codes for scale 1; empty if codes are integers, to be divided by it

  // Return true if products run on codes.
  bool integer() const { return tensors.contains("output.activation_scale"); }
};

// Read the tensors of a model folder with the given config.json.  Throws InputError if they do not fit it.
Weights read_weights(const std::string& folder, const nlohmann::json& config, const Architecture& architecture);

// The output's weight is that of the embedding.
inline std::string owner(const std::string& name) { return name == "output" ? "embedding" : name; }
