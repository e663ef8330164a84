// Memory that grows and is used again, aligned to the cache line; where it is large, in huge pages if the system has any:
// what is read from end to end at every step costs a look at the page tables for each page.
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
  // Room for `count` numbers.  Where it grows, nothing is kept, and all are zero.
  T* room(size_t count) {
    if (count > size_) {
      data_ = zeros(count);
      size_ = count;
    }
    return data_.get();
  }

  // The same, but what is there is kept; grows by half at least.
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
