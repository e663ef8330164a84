// A student as arrays, laid out by packing.py or by the program's packing.cpp, and the interface of a student that an
// engine made.  Nothing here depends on an instruction set or on Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

struct Norm {
  const float *gain, *bias;  // (d)
};

struct Heads {
  int count = 0;    // 0 if all were pruned; attention is then its output bias
  int size = 0;     // numbers of a head, with padding
  float scale = 1;  // 1/√k, where k counts no padding

  int width() const { return count * size; }
};

// A linear map.  Type of the weights: int8, float32, or the bits of bfloat16.
struct LinearParts {
  const void* weight = nullptr;  // (outputs, inputs)
  int outputs = 0, inputs = 0;
  const float *step = nullptr, *bias = nullptr;  // (outputs)
  float scale = 1;                               // of its activations
};

struct TableParts {
  const void* weight = nullptr;  // (pieces, width)
  int pieces = 0, width = 0;
  const float* scale = nullptr;  // (pieces)
};

struct EncoderParts {
  Heads heads;
  LinearParts projections, out;
  Norm attention_norm;
  LinearParts inner, outer;
  Norm feed_forward_norm;
};

struct DecoderParts {
  LinearParts gates;                       // if the decoder is recurrent
  Heads self_heads;                        // if it has self-attention
  LinearParts self_projections, self_out;  // likewise
  Norm self_norm;
  Heads heads;
  LinearParts query, memory, out;
  Norm attention_norm;
  LinearParts inner, outer;
  Norm feed_forward_norm;
};

// The engine copies the weights of linear maps.  It reads tables, norms and the output's arrays in place.
struct StudentParts {
  TableParts embedding, source_embedding;  // of target and source; may be the same
  std::vector<EncoderParts> encoder;
  std::vector<DecoderParts> decoder;  // distinct layers
  int decoder_depth = 0;
  bool recurrent = true;
  LinearParts output;
};

using Pieces = std::vector<int32_t>;

// A student in the engine of one instruction set.  One thread may use it at a time.
class AnyStudent {
 public:
  virtual ~AnyStudent() = default;

  // Set the positional encodings, (n, d), for all positions that follow; they are read in place.
  virtual void positions(const float* table) = 0;

  // Choose the pieces that may be output, in ascending order; the end and the unknown piece are the first two.
  virtual void choose(const int32_t* pieces, size_t count) = 0;

  // Translate a batch by greedy search; its sentences follow one another.  limits: maximal number of pieces of each
  // translation, including the end.  unknown: whether the unknown piece may be output.
  virtual std::vector<Pieces> translate(const Pieces& pieces, const std::vector<int>& lengths,
                                        const std::vector<int>& limits, bool unknown) = 0;

  // For a search that keeps its hypotheses itself: `start` encodes a batch; `step` takes the last piece of each row and
  // writes the outputs, (rows, padded), of which `columns` count; `select` copies row from[i] to row i.
  virtual void start(const Pieces& pieces, const std::vector<int>& lengths) = 0;
  virtual void step(const Pieces& pieces, float* outputs) = 0;
  virtual void select(const std::vector<int>& from) = 0;
  virtual int rows() const = 0;
  virtual int columns() const = 0;
  virtual int padded() const = 0;
};

using MakeStudent = std::unique_ptr<AnyStudent> (*)(const StudentParts& parts);

std::unique_ptr<AnyStudent> int8_student(const StudentParts& parts);  // each is in the file of its name
std::unique_ptr<AnyStudent> float32_student(const StudentParts& parts);
std::unique_ptr<AnyStudent> bfloat16_student(const StudentParts& parts);
