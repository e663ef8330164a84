// Memory that grows and is used again: aligned to the cache line, its contents not kept when it grows.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

template <class T>
class Buffer {
 public:
  // Room for `count` numbers; what is new starts as zeros.
  T* room(size_t count) {
    if (count > size_) {
      const size_t bytes = (count * sizeof(T) + 63) / 64 * 64;
      data_.reset(static_cast<T*>(std::aligned_alloc(64, bytes)));
      if (!data_) throw std::bad_alloc();
      std::memset(data_.get(), 0, bytes);
      size_ = count;
    }
    return data_.get();
  }
  T* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  std::unique_ptr<T, Free> data_;
  size_t size_ = 0;
};
