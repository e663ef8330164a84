#include "translator.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <fstream>
#include <numeric>
#include <sstream>
#include <sys/stat.h>
#include <thread>

#include "engines.h"
#include "input_error.h"
#include "names.h"
#include "sha256.h"

namespace {

using Json = nlohmann::json;

constexpr int64_t BATCH_PIECES = 4096;    // with padding, at most
constexpr int MOST_THREADS = 4096;        // as in Python
constexpr int LEAST_POSITIONS = 256;      // number of encodings to make at least
constexpr double LONGEST_WAVE = 10000.0;  // of positional encodings

bool exists(const std::string& path) {
  struct stat about;
  return !stat(path.c_str(), &about);
}

Json read_config(const std::string& folder) {
  const std::string file = folder + "/config.json";
  if (!exists(folder)) throw InputError(folder + ": no such model folder; check the path");
  if (!exists(file))
    throw InputError(folder + ": not a model folder (no config.json); name the folder that training made");
  std::ifstream stream(file, std::ios::binary);
  Json config;
  try {
    config = Json::parse(stream);
  } catch (const Json::exception& error) {
    throw InputError(file + ": not valid JSON (" + error.what() + "); make it again");
  }
  const Json format = config.is_object() ? config.value("format", Json()) : Json();
  if (std::none_of(std::begin(FORMATS), std::end(FORMATS), [&](const char* one) { return format == one; }))
    throw InputError(file + ": format " + format.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 60) +
                     ", expected '" + FORMATS[0] + "'");
  return config;
}

Architecture read_architecture(const std::string& folder, const Json& config) {
  try {
    return Architecture(config.at("architecture"));
  } catch (const std::exception& error) {
    throw InputError(folder + "/config.json: damaged, its architecture is not what was written (" + error.what() +
                     "); make the model again");
  }
}

// Load the vocabulary from a file, whose hash must be that in config.json.
Vocabulary read_vocabulary(const std::string& folder, const std::string& name, const Json& about, int pieces) {
  std::string wanted;
  try {
    wanted = about.at("sha256").get<std::string>();
  } catch (const Json::exception& error) {
    throw InputError(folder + "/config.json: damaged, its vocabulary is not what was written (" + error.what() +
                     "); make the model again");
  }
  Vocabulary found(folder + "/" + name);
  if (found.hash != wanted)
    throw InputError(folder + ": made with vocabulary " + wanted.substr(0, 8) + "…, but " + name + " is " +
                     found.hash.substr(0, 8) + "…; restore the vocabulary or retrain");
  if (found.size() != pieces)
    throw InputError(folder + "/config.json: an architecture of " + std::to_string(pieces) + " pieces, but " + name +
                     " has " + std::to_string(found.size()) + "; make the model again");
  return found;
}

// Return the maximal number of pieces of a translation, including its end.
int limit(int source_pieces) { return static_cast<int>(std::ceil(1.5 * source_pieces)) + 10; }

}  // namespace

struct Translator::Model {
  Json config;
  Architecture architecture;
  Json about;  // the vocabularies
  Vocabulary target;
  std::optional<Vocabulary> own_source;
  Weights weights;
  Packed packed;

  explicit Model(const std::string& folder)
      : config(read_config(folder)),
        architecture(read_architecture(folder, config)),
        about(config.value("vocabulary", Json())),
        target(read_vocabulary(folder, "vocab.spm", about, architecture.vocabulary)),
        own_source(read_source(folder)),
        weights(read_weights(folder, config, architecture)),
        packed(pack(weights)) {}

  std::optional<Vocabulary> read_source(const std::string& folder) const {
    if (!architecture.source_vocabulary) return std::nullopt;
    return read_vocabulary(folder, "source.spm", about.value("source", Json()), *architecture.source_vocabulary);
  }

  const Vocabulary& source() const { return own_source ? *own_source : target; }
  std::string hash() const { return own_source ? sha256(own_source->hash + " " + target.hash) : target.hash; }
};

Translator::Translator(const std::string& folder, const TranslatorOptions& options) : options_(options) {
  const auto check = [](const char* name, int value, int least) {
    if (value < least)
      throw InputError(std::string(name) + ": found " + std::to_string(value) + ", expected a number of at least " +
                       std::to_string(least));
  };
  check("threads", options.threads, 1);
  if (options.threads > MOST_THREADS)
    throw InputError("threads: found " + std::to_string(options.threads) + ", expected at most " +
                     std::to_string(MOST_THREADS));
  check("max_length", options.max_length, 1);
  check("batch_size", options.batch_size, 0);
  set_ = checked_instruction_set(options.instruction_set);
  const auto model = std::make_shared<Model>(folder);
  const Architecture& architecture = model->architecture;
  if (!options.shortlist.empty())
    shortlist_.emplace(options.shortlist, Sizes{architecture.vocabulary, architecture.source_vocabulary},
                       model->hash());
  for (int thread = 0; thread < options.threads; ++thread)
    students_.push_back(make_student(set_, model->weights.integer(), model->packed.parts));
  model->packed.copies.reset();
  every_.resize(architecture.vocabulary);
  std::iota(every_.begin(), every_.end(), 0);
  model_ = model;
}

std::vector<std::string> Translator::translate(const std::vector<std::string_view>& lines, const OnCut& on_cut) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < lines.size(); ++i)
    if (const auto fault = first_fault(lines[i]))
      throw InputError("line " + std::to_string(i + 1) + ": not UTF-8 at column " + std::to_string(*fault + 1) +
                       "; convert it");
  const size_t longest = options_.max_length;
  std::vector<Edged> edged;
  Sources sources;
  int most = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    edged.push_back(model_->source().without_edges(lines[i]));
    auto& source = sources.emplace_back(model_->source().encode(edged.back().sentence));
    if (source.size() - 1 > longest) {
      if (on_cut) on_cut(i, source.size() - 1, longest);
      source.resize(longest);
      source.push_back(EOS);
    }
    most = std::max(most, static_cast<int>(source.size()));
  }
  const float* table = positions(std::max(limit(most - 1), most) + 1);
  // Divide long and short sentences evenly.
  const size_t threads = students_.size();
  std::vector<int> order(sources.size());
  std::iota(order.begin(), order.end(), 0);
  if (threads > 1)
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return sources[a].size() > sources[b].size(); });
  std::vector<std::vector<int32_t>> found(sources.size());
  std::vector<std::exception_ptr> errors(threads);
  const auto work = [&](size_t thread) {
    try {
      Sources share;
      for (size_t i = thread; i < order.size(); i += threads) share.push_back(sources[order[i]]);
      students_[thread]->positions(table);
      auto translations = translate(*students_[thread], share);
      for (size_t i = thread; i < order.size(); i += threads) found[order[i]] = std::move(translations[i / threads]);
    } catch (...) {
      errors[thread] = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  std::exception_ptr unstarted;
  try {
    for (size_t thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
    work(0);
  } catch (const std::exception&) {
    unstarted = std::make_exception_ptr(InputError("a thread cannot be started; use fewer threads"));
  }
  for (std::thread& other : others) other.join();  // destroying a running thread would end the process
  if (unstarted) std::rethrow_exception(unstarted);
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
  std::vector<std::string> results;
  for (size_t i = 0; i < lines.size(); ++i) {
    const Edged& one = edged[i];
    auto& line = results.emplace_back(one.before + model_->target.decode(found[i]) + one.after);
    std::replace(line.begin(), line.end(), '\n', ' ');
  }
  return results;
}

std::vector<std::vector<int32_t>> Translator::translate(AnyStudent& student, const Sources& sources) const {
  std::vector<std::vector<int32_t>> results(sources.size());
  const Shortlist* shortlist = shortlist_ ? &*shortlist_ : nullptr;
  if (!shortlist) student.choose(every_.data(), every_.size());
  Batches batches;
  if (options_.batch_size) {
    std::vector<int> all(sources.size());
    std::iota(all.begin(), all.end(), 0);
    batches = length_sorted_batches(sources, all, options_.batch_size, BATCH_PIECES);
  } else {
    batches = best_batches(sources, model_->architecture, shortlist, BATCH_PIECES);
  }
  for (const std::vector<int>& batch : batches) {
    std::vector<int32_t> pieces;
    std::vector<int> lengths, limits;
    std::optional<Shortlist::Chosen> chosen;
    if (shortlist) chosen.emplace(*shortlist);
    for (const int place : batch) {
      const std::vector<int32_t>& source = sources[place];
      pieces.insert(pieces.end(), source.begin(), source.end());
      lengths.push_back(static_cast<int>(source.size()));
      limits.push_back(limit(lengths.back() - 1));
      if (chosen) chosen->add(source);
    }
    if (chosen) {
      const std::vector<int32_t> columns = chosen->pieces();
      student.choose(columns.data(), columns.size());
    }
    auto found = student.translate(pieces, lengths, limits, false);
    for (size_t i = 0; i < batch.size(); ++i) results[batch[i]] = std::move(found[i]);
  }
  return results;
}

// Compute the encodings of at least `count` positions in float32: first half sines, second half cosines.
const float* Translator::positions(int count) {
  const int width = model_->architecture.embedding, half = width / 2;
  if (encodings_.size() >= static_cast<size_t>(count) * width) return encodings_.data();
  count = std::max(LEAST_POSITIONS, 2 * count);
  encodings_.resize(static_cast<size_t>(count) * width);
  const float step = static_cast<float>(-std::log(LONGEST_WAVE) / std::max(1, half - 1));
  for (int i = 0; i < half; ++i) {
    const float rate = static_cast<float>(std::exp(static_cast<double>(static_cast<float>(i) * step)));
    for (int position = 0; position < count; ++position) {
      const double angle = static_cast<float>(position) * rate;
      float* row = encodings_.data() + static_cast<size_t>(position) * width;
      row[i] = static_cast<float>(std::sin(angle));
      row[half + i] = static_cast<float>(std::cos(angle));
    }
  }
  return encodings_.data();
}
