// Error for bad input: one line, with the place and the remedy.
#pragma once

#include <stdexcept>
#include <string>

struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Quote the beginning of a text, to show in an error what was found.
inline std::string in_quotes(const std::string& text) { return "'" + text.substr(0, 60) + "'"; }
