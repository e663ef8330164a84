// Normalisation of input, the same as cleaning applied to the training text: normalisation.py in C++.
#pragma once

#include <optional>
#include <string>

#include "unicode.h"

// Normalisation of one side, as the vocabulary records it.
struct SideNormalisation {
  std::string language;
  bool keeps_punctuation = false;
};

Text normalise(const Text& line, const SideNormalisation& side);
