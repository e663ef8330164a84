// SHA-256 (FIPS 180-4), by which files name the vocabulary they were made with.
#pragma once

#include <string>
#include <string_view>

// In hexadecimal digits.
std::string sha256(std::string_view bytes);
