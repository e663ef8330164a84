// Translation of lines by a model folder: folder.py, student.py and translator.py in C++.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../engine/parts.h"
#include "batching.h"
#include "packing.h"
#include "vocabulary.h"

struct TranslatorOptions {
  int threads = 1;
  std::string shortlist;        // a file; empty: any piece may stand in a translation
  std::string instruction_set;  // empty: the fastest
  int max_length = 200;         // pieces of a line; longer ones are cut
  int batch_size = 0;           // 0: the fastest
};

// A line of which only the beginning is translated.
using OnCut = std::function<void(size_t line, size_t pieces, size_t kept)>;

class Translator {
 public:
  // Throws InputError for anything but a sound model folder, and for options that do not hold here.
  Translator(const std::string& folder, const TranslatorOptions& options);

  // Calls from several threads wait for each other.  Throws InputError for a line that is not UTF-8.
  std::vector<std::string> translate(const std::vector<std::string_view>& lines, const OnCut& on_cut);

  const std::string& instruction_set() const { return set_; }

 private:
  struct Model;

  std::vector<std::vector<int32_t>> translate(AnyStudent& student, const Sources& sources) const;
  const float* positions(int count);

  const TranslatorOptions options_;
  std::shared_ptr<const Model> model_;
  std::string set_;
  std::optional<Shortlist> shortlist_;
  std::vector<std::unique_ptr<AnyStudent>> students_;
  std::vector<int32_t> every_;    // piece
  std::vector<float> encodings_;  // of positions, (n, width)
  std::mutex mutex_;
};
