#include "unicode.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace {

struct Range {
  char32_t first, last;
};
struct Decomposition {
  char32_t code;
  const char32_t* text;
};
struct Composition {
  char32_t first, second, code;
};
struct CombiningClass {
  char32_t code;
  uint8_t number;
};

#include "characters.h"

// Hangul's syllables are composed of a leading consonant, a vowel and perhaps a trailing consonant (Unicode §3.12).
constexpr char32_t SYLLABLE = 0xac00, LEADING = 0x1100, VOWEL = 0x1161, TRAILING = 0x11a7;
constexpr char32_t LEADINGS = 19, VOWELS = 21, TRAILINGS = 28, SYLLABLES = LEADINGS * VOWELS * TRAILINGS;

template <size_t N>
bool within(const Range (&ranges)[N], char32_t one) {
  const Range* found =
      std::upper_bound(ranges, ranges + N, one, [](char32_t x, const Range& y) { return x < y.first; });
  return found != ranges && one <= found[-1].last;
}

int combining_class(char32_t one) {
  const auto* found = std::lower_bound(std::begin(COMBINING), std::end(COMBINING), one,
                                       [](const CombiningClass& x, char32_t y) { return x.code < y; });
  return found != std::end(COMBINING) && found->code == one ? found->number : 0;
}

template <size_t N>
const char32_t* decomposition(const Decomposition (&table)[N], char32_t one) {
  const auto* found =
      std::lower_bound(table, table + N, one, [](const Decomposition& x, char32_t y) { return x.code < y; });
  return found != table + N && found->code == one ? found->text : nullptr;
}

// Compose two characters into one; 0 if that is impossible.
char32_t composition(char32_t first, char32_t second) {
  if (first - LEADING < LEADINGS && second - VOWEL < VOWELS)
    return SYLLABLE + ((first - LEADING) * VOWELS + second - VOWEL) * TRAILINGS;
  if (first - SYLLABLE < SYLLABLES && (first - SYLLABLE) % TRAILINGS == 0 && second - TRAILING - 1 < TRAILINGS - 1)
    return first + second - TRAILING;
  const auto* found = std::lower_bound(std::begin(COMPOSITIONS), std::end(COMPOSITIONS),
                                       Composition{first, second, 0}, [](const Composition& x, const Composition& y) {
                                         return std::pair(x.first, x.second) < std::pair(y.first, y.second);
                                       });
  return found != std::end(COMPOSITIONS) && found->first == first && found->second == second ? found->code : 0;
}

// Unicode's algorithm: decompose, put marks in order, compose.
template <size_t N>
Text composed(std::u32string_view text, const Decomposition (&table)[N]) {
  Text parts;
  for (const char32_t one : text) {
    if (const char32_t index = one - SYLLABLE; index < SYLLABLES) {
      parts += LEADING + index / (VOWELS * TRAILINGS);
      parts += VOWEL + index / TRAILINGS % VOWELS;
      if (index % TRAILINGS) parts += TRAILING + index % TRAILINGS;
    } else if (const char32_t* found = decomposition(table, one)) {
      parts += found;
    } else {
      parts += one;
    }
  }
  for (size_t begin = 0, end; begin < parts.size(); begin = end) {
    end = begin + 1;
    if (!combining_class(parts[begin])) continue;
    while (end < parts.size() && combining_class(parts[end])) ++end;
    std::stable_sort(parts.begin() + begin, parts.begin() + end,
                     [](char32_t x, char32_t y) { return combining_class(x) < combining_class(y); });
  }
  Text result;
  size_t starter = Text::npos;  // the last character that begins a composition
  int last = 0;                 // combining class of the previous character, if it follows the starter
  for (const char32_t one : parts) {
    const int number = combining_class(one);
    const bool adjacent = starter + 1 == result.size();
    if (starter != Text::npos && (adjacent || last < number)) {
      if (const char32_t found = composition(result[starter], one)) {
        result[starter] = found;
        continue;
      }
    }
    if (!number) starter = result.size();
    last = number;
    result += one;
  }
  return result;
}

}  // namespace

bool is(Class kind, char32_t one) {
  switch (kind) {
    case Class::space: return within(SPACE, one);
    case Class::decimal: return within(DECIMAL, one);
    case Class::symbol: return within(SYMBOL, one);
    case Class::format: return within(FORMAT, one);
    case Class::invisible: return within(INVISIBLE, one);
    case Class::compatible: return within(COMPATIBLE, one);
    case Class::joined: return within(JOINED, one);
    case Class::unspaced: return within(UNSPACED, one);
    case Class::visible: return within(VISIBLE, one);
    default: return within(EMOJI, one);
  }
}

std::optional<size_t> first_fault(std::string_view utf8) {
  for (size_t at = 0; at < utf8.size();) {
    const auto byte = [&](size_t i) { return at + i < utf8.size() ? static_cast<uint8_t>(utf8[at + i]) : 0; };
    const unsigned first = byte(0);
    const int more = first < 0x80   ? 0
                     : first < 0xc2 ? -1
                     : first < 0xe0 ? 1
                     : first < 0xf0 ? 2
                     : first < 0xf5 ? 3
                                    : -1;
    if (more < 0) return at;
    for (int i = 1; i <= more; ++i)
      if ((byte(i) & 0xc0) != 0x80) return at;
    const unsigned second = byte(1);  // reject overlong forms, surrogates and numbers beyond Unicode
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) || (first == 0xf0 && second < 0x90) ||
        (first == 0xf4 && second > 0x8f))
      return at;
    at += 1 + more;
  }
  return std::nullopt;
}

Text decode(std::string_view utf8) {
  Text text;
  for (size_t at = 0; at < utf8.size();) {
    const auto byte = [&](size_t i) { return static_cast<char32_t>(utf8[at + i] & 0x3f); };
    const auto first = static_cast<uint8_t>(utf8[at]);
    if (first < 0x80) {
      text += first, at += 1;
    } else if (first < 0xe0) {
      text += (first & 0x1f) << 6 | byte(1), at += 2;
    } else if (first < 0xf0) {
      text += (first & 0xf) << 12 | byte(1) << 6 | byte(2), at += 3;
    } else {
      text += (first & 0x7) << 18 | byte(1) << 12 | byte(2) << 6 | byte(3), at += 4;
    }
  }
  return text;
}

std::string encode(std::u32string_view text) {
  std::string utf8;
  for (const char32_t one : text) {
    const auto rest = [&](int bits) { utf8 += static_cast<char>(0x80 | (one >> bits & 0x3f)); };
    if (one < 0x80) {
      utf8 += static_cast<char>(one);
    } else if (one < 0x800) {
      utf8 += static_cast<char>(0xc0 | one >> 6), rest(0);
    } else if (one < 0x10000) {
      utf8 += static_cast<char>(0xe0 | one >> 12), rest(6), rest(0);
    } else {
      utf8 += static_cast<char>(0xf0 | one >> 18), rest(12), rest(6), rest(0);
    }
  }
  return utf8;
}

Text compose(std::u32string_view text) { return composed(text, CANONICAL); }
Text compose_compatible(std::u32string_view text) { return composed(text, COMPATIBILITY); }

std::u32string_view strip(std::u32string_view text) {
  while (!text.empty() && is(Class::space, text.front())) text.remove_prefix(1);
  while (!text.empty() && is(Class::space, text.back())) text.remove_suffix(1);
  return text;
}
