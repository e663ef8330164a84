// Error for bad input: one line, with the place and the remedy.
#pragma once

#include <stdexcept>
#include <string>

struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// So many bytes of a text in single quotes, as errors show what they found.
inline std::string in_quotes(const std::string& text) { return "'" + text.substr(0, 60) + "'"; }
