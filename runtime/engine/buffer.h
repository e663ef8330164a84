// Memory that grows and is reused, aligned to the cache line.  Large buffers are in huge pages if the system offers
// them: a matrix that is read from end to end at every step would otherwise need a page table lookup for each small
// page.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

constexpr size_t HUGE_PAGE = 2 << 20;

template <class T>
class Buffer {
 public:
  // Return room for `count` numbers.  If the buffer grows, its old contents are lost and all numbers are zero.
  T* room(size_t count) {
    if (count > size_) {
      data_ = zeros(count);
      size_ = count;
    }
    return data_.get();
  }

  // The same, but the contents are kept; grows by at least half.
  T* extend(size_t count) {
    if (count > size_) {
      const size_t larger = std::max(count, size_ + size_ / 2);
      auto data = zeros(larger);
      if (size_) std::memcpy(data.get(), data_.get(), size_ * sizeof(T));
      data_ = std::move(data);
      size_ = larger;
    }
    return data_.get();
  }

  T* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  using Owned = std::unique_ptr<T, Free>;

  static Owned zeros(size_t count) {
    const size_t least = count * sizeof(T), alignment = least < HUGE_PAGE ? 64 : HUGE_PAGE;
    const size_t bytes = (least + alignment - 1) / alignment * alignment;
    Owned data(static_cast<T*>(std::aligned_alloc(alignment, bytes)));
    if (!data) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (alignment == HUGE_PAGE) madvise(data.get(), bytes, MADV_HUGEPAGE);
#endif
    std::memset(data.get(), 0, bytes);
    return data;
  }

  Owned data_;
  size_t size_ = 0;
};
