// SentencePiece vocabularies, with the normalisation that they record: vocabulary.py and edge_symbols.py in C++.
#pragma once

#include <sentencepiece_processor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "normalisation.h"

constexpr int32_t EOS = 0, UNK = 1;

// A sentence without the symbols around it that have no piece; these are copied, not translated.
struct Edged {
  std::string before, sentence, after;
};

class Vocabulary {
 public:
  // Throws InputError if the file is missing or not one of our vocabularies.
  explicit Vocabulary(const std::string& path);

  int size() const { return pieces_->GetPieceSize(); }

  Edged without_edges(std::string_view line) const;

  // Encode a source sentence, as a user types it, into pieces; EOS is the last.
  std::vector<int32_t> encode(std::string_view sentence) const;

  // Decode pieces without EOS into text.
  std::string decode(const std::vector<int32_t>& pieces) const;

  std::string hash;

 private:
  bool lacks(std::u32string_view text) const;

  std::unique_ptr<sentencepiece::SentencePieceProcessor> pieces_ =
      std::make_unique<sentencepiece::SentencePieceProcessor>();
  std::optional<SideNormalisation> source_;
  std::set<char32_t> characters_;
};
