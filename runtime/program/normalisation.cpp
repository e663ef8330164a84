#include "normalisation.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>

namespace {

// Patterns of normalisation.py; TEXT stands for itself.
enum StepKind { TEXT, SPACES, BRACKET_MARK, PERCENT, QUOTE_MARKS, DOTS_QUOTE };

struct Step {
  StepKind kind;
  const char32_t *needed, *replacement;
};
struct Replacement {
  const char *old, *now;
};

#include "substitutions.h"

using Steps = std::span<const Step>;

constexpr char32_t SPACE = U' ', NO_BREAK_SPACE = U'\u00a0';

bool among(char32_t one, std::u32string_view some) { return some.find(one) != some.npos; }

// Return the language of a code without script and region; old codes become new ones.
std::string primary(std::string code) {
  constexpr std::string_view LABEL = "__label__";
  if (code.starts_with(LABEL)) code.erase(0, LABEL.size());
  code.resize(std::min(code.find_first_of("-_"), code.size()));
  std::transform(code.begin(), code.end(), code.begin(), [](unsigned char one) { return std::tolower(one); });
  for (const auto& [old, now] : LANGUAGES)
    if (code == old) return now;
  return code;
}

// Match a step's pattern at a position; return the end of the match and set the replacement, or return 0.
size_t match(const Step& step, std::u32string_view text, size_t at, Text& replacement) {
  const auto run = [&](size_t from, std::u32string_view some) {
    while (from < text.size() && among(text[from], some)) ++from;
    return from;
  };
  const auto has = [&](size_t place, std::u32string_view some) {
    return place < text.size() && among(text[place], some);
  };
  switch (step.kind) {
    case TEXT:
      if (!text.substr(at).starts_with(step.needed)) return 0;
      replacement = step.replacement;
      return at + std::u32string_view(step.needed).size();
    case SPACES: {
      const size_t end = run(at, U" ");
      replacement = U" ";
      return end - at < 2 ? 0 : end;
    }
    case BRACKET_MARK:
      if (text[at] != U')' || !has(at + 1, U" ") || !has(at + 2, U".!:?;,")) return 0;
      replacement = Text{U')', text[at + 2]};
      return at + 3;
    case PERCENT:
      if (text[at] != SPACE || !has(at + 1, U"%") || !at || !is(Class::decimal, text[at - 1])) return 0;
      replacement = U"%";
      return at + 2;
    case QUOTE_MARKS: {
      const size_t end = text[at] == U'"' ? run(at + 1, U",.") : at;
      if (end < at + 2) return 0;
      replacement = Text(text.substr(at + 1, end - at - 1)) + U'"';
      return end;
    }
    default: {  // DOTS_QUOTE: a run of dots, a quote, and text that is not a tag
      const size_t dots = run(at, U".");
      if (dots == at) return 0;
      replacement = text.substr(at, dots - at);
      if (!has(dots, U"\"")) return dots;
      size_t end = dots + 1;
      while (end < text.size() && is(Class::space, text[end])) ++end;
      if (end < text.size() && text[end] != U'<') ++end;
      if (end == dots + 1) return dots;  // neither space nor text
      replacement = U'"' + replacement + Text(text.substr(dots + 1, end - dots - 1));
      return end;
    }
  }
}

Text substituted(Text text, const Step& step) {
  if (text.find(step.needed) == Text::npos) return text;
  Text result, replacement;
  for (size_t at = 0; at < text.size();) {
    if (const size_t end = match(step, text, at, replacement)) {
      result += replacement;
      at = end;
    } else {
      result += text[at++];
    }
  }
  return result;
}

// Substitutions for ASCII lines, other lines, and lines with no-break spaces.
struct LanguageSteps {
  Steps ascii, unicode, spaced;
};

LanguageSteps steps_of(const std::string& language) {
  const auto one_of = [&](std::initializer_list<const char*> codes) {
    return std::any_of(codes.begin(), codes.end(), [&](const char* code) { return language == code; });
  };
  if (one_of({"en"})) return {ASCII_EN, UNICODE_EN, SPACED_EN};
  if (one_of({"de", "es", "fr"})) return {ASCII_CONTINENTAL, UNICODE_CONTINENTAL, SPACED_CONTINENTAL};
  if (one_of({"cs", "cz"})) return {ASCII_COMMA, UNICODE_COMMA, SPACED_COMMA};
  return {ASCII_OTHER, UNICODE_OTHER, SPACED_OTHER};
}

// Return the format characters of a run that matter for spelling, given the characters before and after it (0: none).
Text spelling(std::u32string_view run, char32_t before, char32_t after) {
  const bool flag = before == U'\U0001f3f4' && run.size() > 1 && run.back() == U'\U000e007f' &&
                    std::all_of(run.begin(), run.end() - 1,
                                [](char32_t one) { return one >= U'\U000e0020' && one <= U'\U000e007e'; });
  if (flag) return Text(run);
  Text stays;
  for (const char32_t mark : run)
    if ((among(mark, U"\u200c\u200d\u180e") && is(Class::joined, before)) ||
        (mark == U'\u200d' && is(Class::emoji, before) && is(Class::emoji, after)) ||
        (mark == U'\u200b' && (is(Class::unspaced, before) || is(Class::unspaced, after))) ||
        is(Class::visible, mark))
      stays += mark, before = mark, after = 0;  // of several equal marks, one suffices
  return stays;
}

Text without_invisible(const Text& text) {
  Text result;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is(Class::format, text[end])) ++end;
    if (end == at) {
      result += is(Class::invisible, text[at]) ? SPACE : text[at];
      ++at;
    } else {
      result += spelling(std::u32string_view(text).substr(at, end - at), at ? text[at - 1] : 0,
                         end < text.size() ? text[end] : 0);
      at = end;
    }
  }
  return result;
}

// Replace characters of other widths and old forms by the usual ones, and apply NFC unless it would only exchange single
// characters.
Text composed(Text text) {
  Text usual;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is(Class::compatible, text[end])) ++end;
    if (end == at)
      usual += text[at++];
    else
      usual += compose_compatible(std::u32string_view(text).substr(at, end - at)), at = end;
  }
  const Text found = compose(usual);
  if (found.size() != usual.size()) return found;
  for (size_t at = 0; at < usual.size(); ++at)
    if (usual[at] != found[at] && compose({&usual[at], 1}) != Text{found[at]}) return found;
  return usual;
}

}  // namespace

Text normalise(const Text& line, const SideNormalisation& side) {
  const auto ascii = [](const Text& text) {
    return std::all_of(text.begin(), text.end(), [](char32_t one) { return one < 0x80; });
  };
  Text text = without_invisible(line);
  if (!ascii(text)) text = composed(std::move(text));
  if (side.keeps_punctuation) {
    text = substituted(std::move(text), {SPACES, U"  ", U" "});
  } else {
    const LanguageSteps all = steps_of(primary(side.language));
    const bool spaced = text.find(NO_BREAK_SPACE) != Text::npos;
    for (const Step& step : ascii(text) ? all.ascii : spaced ? all.spaced : all.unicode)
      text = substituted(std::move(text), step);
  }
  return Text(strip(text));
}
