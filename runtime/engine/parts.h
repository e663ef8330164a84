// A student as arrays, which packing.py or the program's packing.cpp lays out, and what can be done with it once an
// engine has made it.  Nothing here depends on an instruction set, or on Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

struct Norm {
  const float *gain, *bias;  // (d)
};

struct Heads {
  int count = 0;    // heads; 0 where all were pruned, then attention is its output bias
  int size = 0;     // numbers of a head, with padding
  float scale = 1;  // 1/√k of a head without padding

  int width() const { return count * size; }
};

// A linear map.  Numbers of its weights: int8, float32, or the bits of bfloat16.
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
  LinearParts gates;                       // where the decoder is recurrent
  Heads self_heads;                        // and where it attends
  LinearParts self_projections, self_out;  // likewise
  Norm self_norm;
  Heads heads;
  LinearParts query, memory, out;
  Norm attention_norm;
  LinearParts inner, outer;
  Norm feed_forward_norm;
};

// The engine copies the weights of linear maps; tables, norms and the output's arrays it reads where they are.
struct StudentParts {
  TableParts embedding, source_embedding;  // of target and source; they may be the same
  std::vector<EncoderParts> encoder;
  std::vector<DecoderParts> decoder;  // the distinct ones
  int decoder_depth = 0;
  bool recurrent = true;
  LinearParts output;
};

using Pieces = std::vector<int32_t>;

// A student in the engine of one instruction set, for one thread at a time.
class AnyStudent {
 public:
  virtual ~AnyStudent() = default;

  // Positional encodings (n, d) for all positions of what follows; they are read where they are.
  virtual void positions(const float* table) = 0;

  // The pieces that an output may be from now on, ascending: the end and the unknown piece are the first two.
  virtual void choose(const int32_t* pieces, size_t count) = 0;

  // A batch by greedy search, its sentences one after another.  limits: pieces of each translation at most, the end
  // counted.  unknown: whether the unknown piece may stand in a translation.
  virtual std::vector<Pieces> translate(const Pieces& pieces, const std::vector<int>& lengths,
                                        const std::vector<int>& limits, bool unknown) = 0;

  // For another search, which keeps the hypotheses itself: encode a batch; then, step by step, the last piece of each
  // row → the outputs (rows, padded), of which `columns` count; and rows that go on where others stood.
  virtual void start(const Pieces& pieces, const std::vector<int>& lengths) = 0;
  virtual void step(const Pieces& pieces, float* outputs) = 0;
  virtual void select(const std::vector<int>& from) = 0;
  virtual int rows() const = 0;
  virtual int columns() const = 0;
  virtual int padded() const = 0;
};

using MakeStudent = std::unique_ptr<AnyStudent> (*)(const StudentParts& parts);

std::unique_ptr<AnyStudent> int8_student(const StudentParts& parts);  // each in the file of its name
std::unique_ptr<AnyStudent> float32_student(const StudentParts& parts);
std::unique_ptr<AnyStudent> bfloat16_student(const StudentParts& parts);
