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
  std::string shortlist;        // a file; empty: all pieces may be output
  std::string instruction_set;  // empty: the fastest
  int max_length = 200;         // pieces of a line; longer lines are cut
  int batch_size = 0;           // 0: the fastest
};

// Called for each line of which only the beginning is translated.
using OnCut = std::function<void(size_t line, size_t pieces, size_t kept)>;

class Translator {
 public:
  // Throws InputError if the folder is not a sound model, or an option does not fit it.
  Translator(const std::string& folder, const TranslatorOptions& options);

  // Simultaneous calls run one after another.  Throws InputError if a line is not UTF-8.
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
