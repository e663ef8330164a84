// Text as code points, and what Unicode says of them (tables.py).
#pragma once

#include <optional>
#include <string>
#include <string_view>

using Text = std::u32string;

enum class Class { space, decimal, symbol, format, invisible, compatible, joined, unspaced, visible, emoji };

// Return true if a character is of a class of normalisation.py: spaces and digits as Python sees them; SYMBOL:
// category So; FORMAT: Cf; INVISIBLE: Cc, Co, Cs, Zl and Zp.
bool is(Class kind, char32_t one);

// The place of the first byte that is not UTF-8, by Python's reckoning: that of the character it would belong to.
std::optional<size_t> first_fault(std::string_view utf8);

// utf8: without faults.
Text decode(std::string_view utf8);
std::string encode(std::u32string_view text);

// Form NFC; and NFKC, of the characters that normalisation.py calls COMPATIBLE.
Text compose(std::u32string_view text);
Text compose_compatible(std::u32string_view text);

// Without white space at both ends.
std::u32string_view strip(std::u32string_view text);
