// Lexical shortlists: shortlist.py in C++.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Sizes of the vocabularies: target or shared; source, if it has its own.
struct Sizes {
  int target;
  std::optional<int> source;
};

class Shortlist {
 public:
  // hash: of the model's vocabulary.  Throws InputError if the file is no shortlist, or one for another vocabulary.
  Shortlist(const std::string& path, const Sizes& sizes, const std::string& hash);

  // Collects the target pieces for sources that are added one by one; `pieces` includes the end and the unknown piece.
  class Chosen {
   public:
    explicit Chosen(const Shortlist& shortlist);
    void add(const std::vector<int32_t>& source);
    int64_t count() const { return count_; }
    std::vector<int32_t> pieces() const;  // ascending

   private:
    void choose(int32_t piece);

    const Shortlist& shortlist_;
    std::vector<bool> chosen_;
    int64_t count_ = 0;
  };

 private:
  std::vector<std::vector<int32_t>> candidates_;  // of each source piece
  std::vector<int32_t> frequent_;
  int targets_;
};
