#include "../include/weebill.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "input_error.h"
#include "names.h"
#include "translator.h"

namespace {

thread_local std::string last_error;

// Run code that may throw; return its result, or a given one after an error.
template <class Result, class Work>
Result guarded(Result otherwise, Work work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    last_error = "not enough memory; use fewer threads";
  } catch (const std::exception& error) {
    last_error = error.what();
  }
  std::replace(last_error.begin(), last_error.end(), '\n', ' ');
  return otherwise;
}

}  // namespace

struct weebill_translator {
  Translator translator;
  OnCut on_cut;
};

weebill_translator* weebill_load(const char* folder, const weebill_options* given) {
  return guarded<weebill_translator*>(nullptr, [&] {
    weebill_options options = WEEBILL_OPTIONS;
    if (given) std::memcpy(&options, given, std::min(given->bytes, sizeof options));
    const auto text = [](const char* one) { return std::string(one ? one : ""); };
    TranslatorOptions chosen;
    chosen.threads = options.threads;
    chosen.shortlist = text(options.shortlist);
    chosen.instruction_set = text(options.instruction_set);
    chosen.max_length = options.max_length;
    chosen.batch_size = options.batch_size;
    OnCut on_cut;
    if (options.on_cut)
      on_cut = [=](size_t line, size_t pieces, size_t kept) { options.on_cut(options.data, line, pieces, kept); };
    if (!folder) throw InputError("weebill_load: no folder; name a model folder");
    return new weebill_translator{{folder, chosen}, on_cut};
  });
}

int weebill_translate(weebill_translator* translator, const weebill_text* lines, size_t count,
                      weebill_text* translations) {
  return guarded(1, [&] {
    std::vector<std::string_view> given;
    for (size_t i = 0; i < count; ++i) given.emplace_back(lines[i].data, lines[i].size);
    const std::vector<std::string> found = translator->translator.translate(given, translator->on_cut);
    for (size_t i = 0; i < count; ++i) {
      auto* data = static_cast<char*>(std::malloc(found[i].size() + 1));
      if (!data) {
        weebill_free_texts(translations, i);
        throw std::bad_alloc();
      }
      std::memcpy(data, found[i].c_str(), found[i].size() + 1);
      translations[i] = {data, found[i].size()};
    }
    return 0;
  });
}

void weebill_free_texts(weebill_text* texts, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    std::free(const_cast<char*>(texts[i].data));
    texts[i] = {nullptr, 0};
  }
}

void weebill_free(weebill_translator* translator) { delete translator; }

const char* weebill_instruction_set(const weebill_translator* translator) {
  return translator->translator.instruction_set().c_str();
}

const char* weebill_last_error(void) { return last_error.c_str(); }

const char* weebill_version(void) { return VERSION; }

int weebill_interface(void) { return WEEBILL_INTERFACE; }
