// Normalisation of input as cleaning did it to the training text: normalisation.py in C++.
#pragma once

#include <optional>
#include <string>

#include "unicode.h"

// What a vocabulary records of a side.
struct SideNormalisation {
  std::string language;
  bool keeps_punctuation = false;
};

Text normalise(const Text& line, const SideNormalisation& side);
