// For each row of a search, the entries (keys and values of past steps) that its self-attention reads.
//
// Each step adds an entry to each row.  Reordering rows moves no entries: rows that continue the same row share its
// entries.  When many entries have accumulated, those that no row reads any more are removed.
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

  // Add an entry to each row, or counts[m] entries to row m, numbered row by row; return the number of the first.
  // Unused entries may be removed before: move(from, to) is then called for the remaining ones, in order, with to <
  // from.
  template <class Move>
  int32_t add(Move move, const int* counts = nullptr) {
    if (count_ >= checked_) forget(move);
    const int32_t first = count_;
    for (size_t m = 0; m < rows_.size(); ++m)
      for (int left = counts ? counts[m] : 1; left > 0; --left) rows_[m].push_back(count_++);
    return first;
  }

  // Row i becomes a copy of row from[i].
  void select(const std::vector<int>& from) {
    std::vector<std::vector<int32_t>> rows(from.size());
    for (size_t i = 0; i < from.size(); ++i) rows[i] = rows_[from[i]];
    rows_.swap(rows);
  }

  const std::vector<int32_t>& of(int row) const { return rows_[row]; }  // oldest first

 private:
  static constexpr int32_t FEW = 32;  // with so few entries for each row, unused ones are not searched for

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
