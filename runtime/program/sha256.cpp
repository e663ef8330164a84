#include "sha256.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace {

// The first 32 bits of the fractions of a root of each of the first primes.
template <size_t N>
void fractions(uint32_t (&words)[N], long double (*root)(long double)) {
  size_t count = 0;
  for (unsigned number = 2; count < N; ++number) {
    bool prime = true;
    for (unsigned i = 2; i * i <= number; ++i) prime &= number % i != 0;
    if (!prime) continue;
    const long double value = root(number);
    words[count++] = static_cast<uint32_t>((value - std::floor(value)) * 0x1p32L);
  }
}

}  // namespace

std::string sha256(std::string_view bytes) {
  uint32_t constants[64], state[8];
  fractions(constants, [](long double x) { return std::cbrt(x); });
  fractions(state, [](long double x) { return std::sqrt(x); });
  std::string message(bytes);
  message += '\x80';
  message.resize((message.size() + 8 + 63) / 64 * 64 - 8, '\0');
  for (int byte = 7; byte >= 0; --byte)
    message += static_cast<char>(static_cast<uint64_t>(bytes.size()) * 8 >> 8 * byte);
  for (size_t block = 0; block < message.size(); block += 64) {
    uint32_t words[64] = {}, now[8];
    for (int i = 0; i < 64; ++i) words[i / 4] = words[i / 4] << 8 | static_cast<uint8_t>(message[block + i]);
    for (int i = 16; i < 64; ++i) {
      const uint32_t x = words[i - 15], y = words[i - 2];
      words[i] = words[i - 16] + words[i - 7] + (std::rotr(x, 7) ^ std::rotr(x, 18) ^ x >> 3) +
                 (std::rotr(y, 17) ^ std::rotr(y, 19) ^ y >> 10);
    }
    for (int i = 0; i < 8; ++i) now[i] = state[i];
    for (int i = 0; i < 64; ++i) {
      auto& [a, b, c, d, e, f, g, h] = now;
      const uint32_t one = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) +
                           constants[i] + words[i];
      const uint32_t two = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
    }
    for (int i = 0; i < 8; ++i) state[i] += now[i];
  }
  std::string digits;
  for (const uint32_t word : state)
    for (int shift = 28; shift >= 0; shift -= 4) digits += "0123456789abcdef"[word >> shift & 0xf];
  return digits;
}
