#include "tensor_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "input_error.h"

namespace {

using Json = nlohmann::json;

constexpr uint64_t LARGEST_HEADER = 100'000'000;  // bytes, as in the library
const std::map<std::string, int64_t> BYTES = {{"F64", 8}, {"F32", 4}, {"F16", 2}, {"I64", 8},
                                              {"I32", 4}, {"I16", 2}, {"I8", 1},  {"U64", 8},
                                              {"U32", 4}, {"U16", 2}, {"U8", 1},  {"BOOL", 1}};

// Parse a JSON text; a name must not occur twice in an object.
Json parse(std::string_view text) {
  std::vector<std::set<std::string>> names;
  return Json::parse(text, [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) names.emplace_back();
    if (event == Json::parse_event_t::object_end) names.pop_back();
    if (event == Json::parse_event_t::key && !names.back().insert(value.get<std::string>()).second)
      throw std::runtime_error("a name stands twice in its header");
    return true;
  });
}

uint64_t whole(const Json& number) {
  if (!number.is_number_unsigned()) throw std::runtime_error("a size that is no whole number in its header");
  return number.get<uint64_t>();
}

std::string shown(const Shape& shape) {
  std::string text;
  for (const int64_t size : shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

}  // namespace

int64_t product(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t size : shape)
    if (__builtin_mul_overflow(count, size, &count)) throw std::runtime_error("a tensor that is too large");
  return count;
}

MappedFile::MappedFile(const std::string& path) {
  const auto check = [](bool holds) {
    if (!holds) throw std::runtime_error(std::strerror(errno));
  };
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  check(file >= 0);
  struct stat about;
  const bool known = !fstat(file, &about) && S_ISREG(about.st_mode);
  size_ = known ? about.st_size : 0;
  void* data = size_ ? mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0) : nullptr;
  const int error = errno;
  close(file);
  errno = error;
  if (!size_) throw std::runtime_error("an empty file, or none");
  check(data != MAP_FAILED);
  data_ = static_cast<const char*>(data);
}

MappedFile::~MappedFile() { munmap(const_cast<char*>(data_), size_); }

TensorFile read_tensors(const std::string& path,
                        const std::function<std::vector<std::string>(const std::string&)>& expected) {
  TensorFile found;
  found.file = std::make_shared<MappedFile>(path);
  const std::string_view bytes = found.file->bytes();
  uint64_t header = 0;
  for (size_t i = 0; i < std::min<size_t>(8, bytes.size()); ++i)
    header |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[i])) << 8 * i;
  if (bytes.size() < 8 || header > std::min<uint64_t>(LARGEST_HEADER, bytes.size() - 8))
    throw std::runtime_error("no header, or a part of one");
  const Json entries = parse(bytes.substr(8, header));
  if (!entries.is_object()) throw std::runtime_error("its header is no JSON object");
  const std::string_view data = bytes.substr(8 + header);
  std::map<std::pair<uint64_t, uint64_t>, std::vector<std::string>> places;
  for (const auto& [name, entry] : entries.items()) {
    if (name == "__metadata__") {
      found.metadata = entry.get<std::map<std::string, std::string>>();
      continue;
    }
    Tensor tensor{entry.at("dtype").get<std::string>(), {}, nullptr};
    const std::vector<std::string> wanted = expected(name);
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), tensor.kind) == wanted.end()) {
      std::string kinds;
      for (const std::string& kind : wanted) kinds += (kinds.empty() ? "" : " or ") + kind;
      throw InputError(path + ": tensor " + name + " is " + tensor.kind + ", expected " + kinds +
                       "; make it again or restore the file");
    }
    for (const Json& size : entry.at("shape")) {
      tensor.shape.push_back(static_cast<int64_t>(whole(size)));
      if (tensor.shape.back() < 0) throw std::runtime_error("a tensor that is too large");
    }
    const uint64_t begin = whole(entry.at("data_offsets").at(0)), end = whole(entry.at("data_offsets").at(1));
    const auto size = BYTES.find(tensor.kind);
    if (size == BYTES.end()) throw std::runtime_error("tensors of type " + tensor.kind);
    Shape all = tensor.shape;
    all.push_back(size->second);
    if (end < begin || end > data.size() || end - begin != static_cast<uint64_t>(product(all)))
      throw std::runtime_error("tensor " + name + " of " + shown(tensor.shape) + " has other bytes");
    tensor.data = data.data() + begin;
    if (reinterpret_cast<uintptr_t>(tensor.data) % size->second) throw std::runtime_error("numbers at odd places");
    places[{begin, end}].push_back(name);
    found.tensors.emplace(name, std::move(tensor));
  }
  uint64_t place = 0;
  for (const auto& [range, names] : places) {
    if (range.first != place || (names.size() > 1 && range.second > range.first))
      throw std::runtime_error("tensor " + names.front() + " is not where the one before it ends, or not whole");
    place = range.second;
  }
  if (place != data.size()) throw std::runtime_error("more bytes than tensors");
  return found;
}
