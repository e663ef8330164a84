// Text as code points, and their Unicode properties (tables.py).
#pragma once

#include <optional>
#include <string>
#include <string_view>

using Text = std::u32string;

enum class Class { space, decimal, symbol, format, invisible, compatible, joined, unspaced, visible, emoji };

// Return true if a character is in a class of normalisation.py.  Spaces and digits: as in Python; SYMBOL: category So;
// FORMAT: Cf; INVISIBLE: Cc, Co, Cs, Zl and Zp.
bool is(Class kind, char32_t one);

// Return the position of the first byte that is not UTF-8, or of the character that it should belong to, as Python
// reports it.
std::optional<size_t> first_fault(std::string_view utf8);

// utf8: must be valid.
Text decode(std::string_view utf8);
std::string encode(std::u32string_view text);

// Form NFC; and NFKC for the characters that normalisation.py calls COMPATIBLE.
Text compose(std::u32string_view text);
Text compose_compatible(std::u32string_view text);

// Remove white space at both ends.
std::u32string_view strip(std::u32string_view text);
