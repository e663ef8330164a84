// SHA-256 (FIPS 180-4); files identify the vocabulary they were made with by it.
#pragma once

#include <string>
#include <string_view>

// Return the hash in hexadecimal digits.
std::string sha256(std::string_view bytes);
