#include "vocabulary.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sentencepiece_model.pb.h>

#include "input_error.h"
#include "sha256.h"
#include "tensor_file.h"

namespace {

// Characters that join symbols to one emoji (tones, tags, selector, joiner, keycap), and spaces.
bool joins(char32_t one) {
  return (one >= 0x1f3fb && one < 0x1f400) || (one >= 0xe0020 && one < 0xe0080) ||
         std::u32string_view(U"\ufe0f\u200d\u20e3 \t\u00a0\u3000").find(one) != std::u32string_view::npos;
}

bool is_symbol(char32_t one) { return joins(one) || is(Class::symbol, one); }

// Read the normalisation of the source, which the name of a SentencePiece model's normalizer records.
std::optional<SideNormalisation> recorded(const std::string& path, const std::string& name) {
  if (!name.starts_with("{")) return std::nullopt;
  try {
    const auto side = nlohmann::json::parse(name).at("normalisation").at("source");
    const std::string punctuation = side.at("punctuation");
    if (punctuation != "moses" && punctuation != "keep")
      throw std::runtime_error("no punctuation " + in_quotes(punctuation));
    return SideNormalisation{side.at("language"), punctuation == "keep"};
  } catch (const std::exception& error) {
    throw InputError(path + ": its normalisation " + in_quotes(name) + " is none of Weebill's (" + error.what() +
                     "); use the version that made it, or train the vocabulary again");
  }
}

}  // namespace

Vocabulary::Vocabulary(const std::string& path) {
  std::string why;
  try {
    const MappedFile file(path);
    hash = sha256(file.bytes());
    const auto status = pieces_->LoadFromSerializedProto(file.bytes());
    if (!status.ok()) why = status.ToString();
  } catch (const std::runtime_error& error) {
    throw InputError(path + ": no such vocabulary (" + error.what() + "); train it first or correct the path");
  }
  if (!why.empty()) throw InputError(path + ": not a SentencePiece model (" + why + ")");
  if (pieces_->eos_id() != EOS || pieces_->unk_id() != UNK)
    throw InputError(path + ": needs EOS = 0 and UNK = 1; train the vocabulary with Weebill");
  source_ = recorded(path, pieces_->model_proto().normalizer_spec().name());
  for (int piece = 0; piece < size(); ++piece) {
    const std::string& text = pieces_->IdToPiece(piece);
    if (first_fault(text)) throw InputError(path + ": its pieces are not UTF-8; restore the file");
    for (const char32_t one : ::decode(text)) characters_.insert(one);
  }
}

bool Vocabulary::lacks(std::u32string_view text) const {
  return std::any_of(text.begin(), text.end(),
                     [&](char32_t one) { return !is(Class::space, one) && !characters_.contains(one); });
}

Edged Vocabulary::without_edges(std::string_view line) const {
  const Text text = ::decode(line);
  std::u32string_view inner = text, before, after;
  size_t count = 0;
  if (text.size() < line.size()) {  // not only ASCII
    while (count < inner.size() && is_symbol(inner[count])) ++count;
    if (lacks(inner.substr(0, count))) before = inner.substr(0, count), inner.remove_prefix(count);
    for (count = inner.size(); count && is_symbol(inner[count - 1]);) --count;
    if (lacks(inner.substr(count))) after = inner.substr(count), inner = inner.substr(0, count);
  }
  return {::encode(before), ::encode(inner), ::encode(after)};
}

std::vector<int32_t> Vocabulary::encode(std::string_view sentence) const {
  std::vector<int32_t> found =
      pieces_->EncodeAsIds(source_ ? ::encode(normalise(::decode(sentence), *source_)) : std::string(sentence));
  found.push_back(EOS);
  return found;
}

std::string Vocabulary::decode(const std::vector<int32_t>& pieces) const {
  std::string text = pieces_->DecodeIds(pieces);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}
