// Which entries of self-attention, keys and values of past steps, each row of a search looks back at.
//
// A step adds an entry for each row, and none is ever moved while rows are reordered: rows that continue the same one
// share its entries.  When there are many, those that no row looks back at any more are given up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

class History {
 public:
  void start(int rows) {
    rows_.assign(rows, {});
    count_ = 0;
    checked_ = FEW * rows;
  }

  // Before a step: give up what is not needed, if it is much, by move(from, to) of entries with to < from, in order;
  // then an entry for each row, or counts[row] of them, one row's behind the other's.  Returns the first of them.
  template <class Move>
  int32_t add(Move move, const int* counts = nullptr) {
    if (count_ >= checked_) forget(move);
    const int32_t first = count_;
    for (size_t m = 0; m < rows_.size(); ++m)
      for (int left = counts ? counts[m] : 1; left > 0; --left) rows_[m].push_back(count_++);
    return first;
  }

  // Row i goes on where row from[i] stood.
  void select(const std::vector<int>& from) {
    std::vector<std::vector<int32_t>> rows(from.size());
    for (size_t i = 0; i < from.size(); ++i) rows[i] = rows_[from[i]];
    rows_.swap(rows);
  }

  const std::vector<int32_t>& of(int row) const { return rows_[row]; }  // oldest first

 private:
  static constexpr int32_t FEW = 32;  // entries a row, up to which nothing is looked for

  template <class Move>
  void forget(Move move) {
    std::vector<int32_t> place(count_, -1);
    for (const auto& row : rows_)
      for (const int32_t entry : row) place[entry] = 0;
    const int32_t needed = count_ - static_cast<int32_t>(std::count(place.begin(), place.end(), -1));
    checked_ = 2 * std::max(count_, checked_);
    if (4 * needed > 3 * count_) return;
    int32_t kept = 0;
    for (int32_t entry = 0; entry < count_; ++entry) {
      if (place[entry] < 0) continue;
      if (kept < entry) move(entry, kept);
      place[entry] = kept++;
    }
    for (auto& row : rows_)
      for (int32_t& entry : row) entry = place[entry];
    count_ = kept;
    checked_ = std::max(checked_ / 4, 2 * kept);
  }

  std::vector<std::vector<int32_t>> rows_;
  int32_t count_ = 0, checked_ = 0;
};
