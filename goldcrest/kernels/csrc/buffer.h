// Memory that grows and is used again, aligned to the cache line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

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
    const size_t bytes = (count * sizeof(T) + 63) / 64 * 64;
    Owned data(static_cast<T*>(std::aligned_alloc(64, bytes)));
    if (!data) throw std::bad_alloc();
    std::memset(data.get(), 0, bytes);
    return data;
  }

  Owned data_;
  size_t size_ = 0;
};
