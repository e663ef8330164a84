// Tensors of a safetensors file, mapped into memory without copies.  tensor_file.py in C++.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using Shape = std::vector<int64_t>;

int64_t product(const Shape& shape);

struct Tensor {
  std::string kind;  // as safetensors calls it, such as F32
  Shape shape;
  const void* data = nullptr;

  template <class T>
  const T* as() const {
    return static_cast<const T*>(data);
  }
  int64_t size() const { return product(shape); }
};

// A file mapped into memory.
class MappedFile {
 public:
  // Throws std::runtime_error if it cannot be read or is empty.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;

  std::string_view bytes() const { return {data_, size_}; }

 private:
  const char* data_;
  size_t size_;
};

struct TensorFile {
  std::shared_ptr<MappedFile> file;
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

// expected: the types that a tensor of a given name may have.  Throws InputError for other types, std::exception if the
// file is missing or damaged.
TensorFile read_tensors(const std::string& path,
                        const std::function<std::vector<std::string>(const std::string&)>& expected);
