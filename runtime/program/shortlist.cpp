#include "shortlist.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "input_error.h"
#include "tensor_file.h"
#include "vocabulary.h"

namespace {

std::vector<uint32_t> numbers(const TensorFile& file, const std::string& name) {
  const Tensor& tensor = file.tensors.at(name);
  const int64_t size = tensor.size();
  if (tensor.kind == "U16") return {tensor.as<uint16_t>(), tensor.as<uint16_t>() + size};
  return {tensor.as<uint32_t>(), tensor.as<uint32_t>() + size};
}

std::string shown(int source, int target) {
  return std::to_string(source) + (source == target ? "" : " and " + std::to_string(target));
}

}  // namespace

Shortlist::Shortlist(const std::string& path, const Sizes& sizes, const std::string& hash) {
  std::string made;
  try {
    const TensorFile file = read_tensors(path, [](const std::string& name) -> std::vector<std::string> {
      if (name == "candidates" || name == "counts" || name == "frequent") return {"U16", "U32"};
      return {};
    });
    const auto candidates = numbers(file, "candidates"), counts = numbers(file, "counts"),
               frequent = numbers(file, "frequent");
    const auto told = [&](const char* key) {
      const auto found = file.metadata.find(key);
      return found == file.metadata.end() ? std::string() : found->second;
    };
    made = told("vocabulary");
    const std::string own = told("target_pieces");
    targets_ = own.empty() ? static_cast<int>(counts.size()) : std::stoi(own);
    for (const auto* pieces : {&candidates, &frequent})
      for (const uint32_t piece : *pieces)
        if (piece >= static_cast<uint32_t>(targets_))
          throw std::runtime_error("piece " + std::to_string(piece) + " of " + std::to_string(targets_));
    if (std::accumulate(counts.begin(), counts.end(), uint64_t{0}) != candidates.size())
      throw std::runtime_error(std::to_string(candidates.size()) + " candidates, and another number is counted");
    auto from = candidates.begin();
    for (const uint32_t count : counts) {
      candidates_.emplace_back(from, from + count);
      from += count;
    }
    frequent_.assign(frequent.begin(), frequent.end());
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    throw InputError(path + ": no shortlist, or damaged (" + error.what() + "); make it again");
  }
  std::string difference;
  const int sources = static_cast<int>(candidates_.size()), source = sizes.source.value_or(sizes.target);
  if (sources != source || targets_ != sizes.target)
    difference = "made for a vocabulary of " + shown(sources, targets_) + " pieces, the model has " +
                 shown(source, sizes.target);
  else if (!made.empty() && made != hash)
    difference = "made with vocabulary " + made.substr(0, 8) + "…, the model's is " + hash.substr(0, 8) + "…";
  if (!difference.empty()) throw InputError(path + ": " + difference + "; make a shortlist of this model's corpus");
}

Shortlist::Chosen::Chosen(const Shortlist& shortlist) : shortlist_(shortlist), chosen_(shortlist.targets_) {
  for (const int32_t piece : shortlist.frequent_) choose(piece);
}

void Shortlist::Chosen::add(const std::vector<int32_t>& source) {
  for (const int32_t piece : source)
    for (const int32_t candidate : shortlist_.candidates_[piece]) choose(candidate);
}

void Shortlist::Chosen::choose(int32_t piece) {
  count_ += !chosen_[piece];
  chosen_[piece] = true;
}

std::vector<int32_t> Shortlist::Chosen::pieces() const {
  std::vector<int32_t> found;
  for (size_t piece = 0; piece < chosen_.size(); ++piece)
    if (chosen_[piece] || piece == EOS || piece == UNK) found.push_back(static_cast<int32_t>(piece));
  return found;
}
