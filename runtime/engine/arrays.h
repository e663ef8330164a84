// Array arguments and results of the functions that Python calls: NumPy arrays, or any object that offers DLPack or the
// buffer protocol.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string>

namespace nb = nanobind;

// A read-only contiguous array.  Arrays of another type or layout are refused, never copied.
template <class T, size_t DIMENSIONS>
using Numbers = nb::ndarray<const T, nb::ndim<DIMENSIONS>, nb::c_contig, nb::device::cpu>;

// An array that may have strides.
template <class T, size_t DIMENSIONS>
using Strided = nb::ndarray<const T, nb::ndim<DIMENSIONS>, nb::device::cpu>;

template <size_t DIMENSIONS>
using Result = nb::ndarray<nb::numpy, float, nb::ndim<DIMENSIONS>>;

// Make an uninitialised array.  Its last dimension shows the first `shown` numbers of each row.
template <size_t DIMENSIONS>
Result<DIMENSIONS> make_result(const size_t (&shape)[DIMENSIONS], size_t shown) {
  constexpr size_t LINE = 64;  // bytes of a cache line
  size_t bytes = sizeof(float), shown_shape[DIMENSIONS];
  int64_t strides[DIMENSIONS], stride = 1;
  for (size_t i = DIMENSIONS; i-- > 0; stride *= static_cast<int64_t>(shape[i])) {
    strides[i] = stride;
    shown_shape[i] = i + 1 < DIMENSIONS ? shape[i] : shown;
    bytes *= shape[i];
  }
  void* data = std::aligned_alloc(LINE, (std::max<size_t>(bytes, 1) + LINE - 1) / LINE * LINE);
  if (!data) throw std::bad_alloc();
  const nb::capsule owner(data, [](void* memory) noexcept { std::free(memory); });
  return Result<DIMENSIONS>(data, DIMENSIONS, shown_shape, owner, strides);
}

inline void expect(bool holds, const std::string& otherwise) {
  if (!holds) throw nb::value_error(otherwise.c_str());
}
