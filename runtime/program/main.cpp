// weebill-translate: lines from a file or standard input, translations to standard output.
#include <getopt.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "../include/weebill.h"
#include "input_error.h"
#include "unicode.h"

namespace {

constexpr char HELP[] = R"(usage: weebill-translate [OPTION]… MODEL [FILE]

Translate FILE, or standard input, one sentence per line, to standard output, by a model folder of Weebill.

  --threads N      translate in N threads; default 1
  --shortlist FILE pieces that a translation may hold
  --max-length N   largest number of pieces of a line; longer lines are cut, and named on standard error; default 200
  --batch-size N   lines that are translated together; default: as many as is fastest
  --window N       lines that are read, sorted by length and translated together; 1 answers each line at once;
                   default 4096, and 1 if the lines are typed on a terminal
  --isa SET        instruction set: amx, vnni, avxvnni, avx2, i8mm, dotprod, neon or portable; default: the fastest
  --version        print the version
  --help           print this
)";

constexpr int WINDOW = 4096;

struct Arguments {
  std::string model, file, shortlist, isa;
  int threads = 1, max_length = 200, batch_size = 0, window = 0;
};

int positive(const char* option, const char* text) {
  int number = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, number);
  if (error != std::errc() || stop != end || number < 1)
    throw InputError(std::string("--") + option + ": found " + in_quotes(text) + ", expected a number of at least 1");
  return number;
}

std::string named(const char* what, const char* text) {
  if (!*text) throw InputError(std::string(what) + ": found '', expected a name; leave it out for the default");
  return text;
}

// Return false after an option that only prints.
bool parse(int count, char** words, Arguments& found) {
  const option options[] = {
      {"threads", 1, nullptr, 't'},    {"shortlist", 1, nullptr, 's'}, {"max-length", 1, nullptr, 'm'},
      {"batch-size", 1, nullptr, 'b'}, {"window", 1, nullptr, 'w'},    {"isa", 1, nullptr, 'i'},
      {"version", 0, nullptr, 'v'},    {"help", 0, nullptr, 'h'},      {nullptr, 0, nullptr, 0}};
  for (int index = 0, one; (one = getopt_long(count, words, "h", options, &index)) != -1;) {
    const auto number = [&] { return positive(options[index].name, optarg); };
    switch (one) {
      case 't': found.threads = number(); break;
      case 's': found.shortlist = named("--shortlist", optarg); break;
      case 'm': found.max_length = number(); break;
      case 'b': found.batch_size = number(); break;
      case 'w': found.window = number(); break;
      case 'i': found.isa = named("--isa", optarg); break;
      case 'v': std::printf("%s\n", weebill_version()); return false;
      case 'h': std::fputs(HELP, stdout); return false;
      default: std::exit(2);  // getopt has printed the reason
    }
  }
  if (count - optind < 1 || count - optind > 2)
    throw InputError("expected a model folder, and perhaps a file; `weebill-translate --help` explains");
  found.model = words[optind];
  if (optind + 1 < count) found.file = named("FILE", words[optind + 1]);
  return true;
}

// Reads lines in windows, as `weebill translate` does.
class Reader {
 public:
  Reader(std::istream& stream, std::string name) : stream_(stream), name_(std::move(name)) {}

  // Return up to `size` lines, or none at the end.  A fault is reported after the lines before it.
  std::vector<std::string> window(size_t size) {
    if (!fault_.empty()) throw InputError(fault_);
    std::vector<std::string> lines;
    for (std::string line; lines.size() < size && std::getline(stream_, line);) {
      const bool whole = !stream_.eof();  // the line ends in a newline
      ++number_;
      if (number_ == 1) returns_ = line.substr(0, line.find_last_not_of('\r') + 1).find('\r') != line.npos;
      if (number_ == 1 && !whole && returns_) return told(lines, carriage_returns());
      if (const auto place = first_fault(line)) {
        char byte[8];
        std::snprintf(byte, sizeof byte, "0x%02x", static_cast<unsigned char>(line[*place]));
        return told(lines, name_ + ":" + std::to_string(number_) + ": not UTF-8 (byte " + byte + " at column " +
                               std::to_string(*place + 1) + "); convert the text with iconv, or remove the line");
      }
      lines.push_back(std::move(line));
    }
    if (stream_.bad()) return told(lines, name_ + ": " + std::strerror(errno));
    if (lines.size() < size && number_ == 1 && returns_) return told(lines, carriage_returns());
    return lines;
  }

  const std::string& name() const { return name_; }

 private:
  std::string carriage_returns() const {
    return name_ + ": its lines end in carriage returns alone; convert it by `tr '\\r' '\\n'`";
  }

  std::vector<std::string> told(std::vector<std::string> lines, const std::string& fault) {
    if (lines.empty()) throw InputError(fault);
    fault_ = fault;
    return lines;
  }

  std::istream& stream_;
  const std::string name_;
  std::string fault_;
  size_t number_ = 0;
  bool returns_ = false;
};

// What a message about a cut line needs.
struct Place {
  std::string name;
  size_t first;  // number of lines before the window
};

void tell_cut(void* data, size_t line, size_t pieces, size_t kept) {
  const auto& place = *static_cast<Place*>(data);
  std::fprintf(stderr,
               "weebill-translate: %s:%zu: %zu pieces, cut to the first %zu; --max-length N translates more, or "
               "split the line\n",
               place.name.c_str(), place.first + line + 1, pieces, kept);
}

void run(const Arguments& arguments) {
  std::ios::sync_with_stdio(false);
  std::ifstream file;
  if (!arguments.file.empty()) {
    file.open(arguments.file, std::ios::binary);
    if (!file) throw InputError(arguments.file + ": " + std::strerror(errno) + "; check the path");
  }
  const bool typed = arguments.file.empty() && isatty(STDIN_FILENO);
  Reader reader(arguments.file.empty() ? std::cin : file, arguments.file.empty() ? "standard input" : arguments.file);
  Place place{reader.name(), 0};
  weebill_options options = WEEBILL_OPTIONS;
  options.threads = arguments.threads;
  options.max_length = arguments.max_length;
  options.batch_size = arguments.batch_size;
  options.on_cut = tell_cut;
  options.data = &place;
  if (!arguments.shortlist.empty()) options.shortlist = arguments.shortlist.c_str();
  if (!arguments.isa.empty()) options.instruction_set = arguments.isa.c_str();
  const auto check = [](bool holds) {
    if (!holds) throw InputError(weebill_last_error());
  };
  weebill_translator* translator = weebill_load(arguments.model.c_str(), &options);
  check(translator);
  if (typed) std::fputs("Type a line and press Enter; Ctrl-D ends.\n", stderr);
  const int window = arguments.window ? arguments.window : typed ? 1 : WINDOW;
  for (std::vector<std::string> lines; !(lines = reader.window(window)).empty(); place.first += lines.size()) {
    std::vector<weebill_text> given, found(lines.size());
    for (const std::string& line : lines) given.push_back({line.data(), line.size()});
    check(weebill_translate(translator, given.data(), given.size(), found.data()) == 0);
    bool written = true;
    for (const weebill_text& one : found)
      written &= std::fwrite(one.data, 1, one.size, stdout) == one.size && std::fputc('\n', stdout) != EOF;
    if (!written || std::fflush(stdout)) throw InputError(std::string("standard output: ") + std::strerror(errno));
    weebill_free_texts(found.data(), found.size());
  }
  weebill_free(translator);
}

}  // namespace

int main(int count, char** words) {
  try {
    Arguments arguments;
    if (parse(count, words, arguments)) run(arguments);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "weebill-translate: %s\n", error.what());
    return 1;
  }
}
