// A linear map on 4-bit weights, for any model.  Each group of 32 inputs of an output has a step: w = (code − 8)·step.
// It reads half the bytes of Int8Linear, and reading takes most of the time if there are few rows.
//
// Weights are stored in blocks of LANES outputs × 32 inputs; the blocks of the same outputs follow one another.  Codes
// 0…15 are multiplied by activations −127…127, and 8·Σ activations is subtracted.
#pragma once

#include "coded_linear.h"
#include "product_int4.h"

class Int4Linear : public CodedLinear {
 public:
  static constexpr int GROUP = 32, WIDTH = LANES;  // inputs and outputs of a block
  static_assert(VECTOR % WIDTH == 0);

  // codes: (outputs, inputs padded to GROUP), row by row, −8…7.  steps: (outputs, groups); 16 bits of each are kept.
  Int4Linear(const int8_t* codes, int outputs, int inputs, const float* steps)
      : CodedLinear(outputs, inputs), groups_(round_up(inputs, GROUP) / GROUP) {
    Block* block = blocks_.room(static_cast<size_t>(padded() / WIDTH) * groups_);
    for (int first = 0; first < padded(); first += WIDTH)
      for (int g = 0; g < groups_; ++g, ++block)
        for (int i = 0; i < WIDTH; ++i)
          if (const int n = first + i; n < outputs) {
            const size_t at = static_cast<size_t>(n) * groups_ + g;
            uint32_t bits;
            std::memcpy(&bits, steps + at, sizeof bits);
            block->steps[i] = static_cast<uint16_t>(bits >> 16);
            for (int k = 0; k < GROUP; ++k) block->put(i, k, codes[at * GROUP + k] + ZERO);
          }
  }

  void operator()(const float* x, int rows, const float* bias, float scale, Activation kind, float* y) const override {
    static thread_local Buffer<int8_t> values_room;
    static thread_local Buffer<int32_t> zeros_room;
    static thread_local Buffer<float> steps_room;
    const int depth = groups_ * GROUP, width = padded();
    int8_t* values = values_room.room(static_cast<size_t>(rows) * depth);
    int32_t* zeros = zeros_room.room(static_cast<size_t>(rows) * groups_);  // ZERO·Σ values, to be subtracted
    float* steps = steps_room.room(rows);
    const float* offsets = padded_bias(bias);
    for (int m = 0; m < rows; ++m) {
      const float* from = x + static_cast<size_t>(m) * inputs;
      int8_t* to = values + static_cast<size_t>(m) * depth;
      const float own = scale ? scale : scale_of(from);
      std::fill(to + inputs / LANES * LANES, to + depth, 0);
      in_lanes(from, [&](int k, Floats numbers) {
        const Ints whole = to_nearest(minimum_of(maximum(numbers * own, all(-127.0f)), all(127.0f)));
        const Bytes bytes = __builtin_convertvector(whole, Bytes);
        std::memcpy(to + k, &bytes, LANES);
      });
      steps[m] = 1 / own;
      for (int g = 0; g < groups_; ++g) {
        int sum = 0;
        for (int k = 0; k < GROUP; ++k) sum += to[g * GROUP + k];
        zeros[static_cast<size_t>(m) * groups_ + g] = ZERO * sum;
      }
    }
    for (int n = 0; n < width; n += WIDTH) {
      const Block* blocks = blocks_.data() + static_cast<size_t>(n / WIDTH) * groups_;
      const auto run = [&]<int R>(int m) {
        multiply<R>(blocks, values + static_cast<size_t>(m) * depth, zeros + static_cast<size_t>(m) * groups_,
                    y + static_cast<size_t>(m) * width + n, width);
      };
      int m = 0;
      if constexpr (LANES == 16)  // with enough registers
        for (; m + 8 <= rows; m += 8) run.template operator()<8>(m);
      for (; m + 4 <= rows; m += 4) run.template operator()<4>(m);
      for (; m < rows; ++m) run.template operator()<1>(m);
    }
    for (int m = 0; m < rows; ++m)
      for (int n = 0; n < width; n += LANES) {
        float* to = y + static_cast<size_t>(m) * width + n;
        store(to, activated(load(to) * steps[m] + load(offsets + n), kind));
      }
  }

  void row(int n, float* to) const override {
    const Block* block = blocks_.data() + static_cast<size_t>(n / WIDTH) * groups_;
    for (int k = 0; k < inputs; ++k) {
      const Block& one = block[k / GROUP];
      to[k] = (one.code(n % WIDTH, k % GROUP) - ZERO) * one.step(n % WIDTH);
    }
  }

 private:
  static constexpr int ZERO = 8;         // the code of weight 0
  static constexpr size_t AHEAD = 4096;  // bytes of blocks that are prefetched ahead of the current one
  using Bytes = int8_t __attribute__((vector_size(LANES)));

  // Each run of 4·WIDTH bytes holds four bytes of each output, for eight inputs: 0…3 in the low and 4…7 in the high
  // halves.
  struct Block {
    uint16_t steps[WIDTH];  // the upper half of a float's bits
    uint8_t codes[WIDTH * GROUP / 2];

    static int place(int i, int k) { return k / 8 * 4 * WIDTH + i * 4 + k % 4; }
    void put(int i, int k, int code) { codes[place(i, k)] |= static_cast<uint8_t>(k % 8 < 4 ? code : code << 4); }
    int code(int i, int k) const { return codes[place(i, k)] >> (k % 8 < 4 ? 0 : 4) & 15; }
    float step(int i) const {
      const uint32_t bits = static_cast<uint32_t>(steps[i]) << 16;
      float found;
      std::memcpy(&found, &bits, sizeof found);
      return found;
    }
  };

  static Floats minimum_of(Floats a, Floats b) { return -maximum(-a, -b); }

  // y[r][i] ← Σ (code − ZERO)·step·value over all inputs, for R rows and the WIDTH outputs of these blocks.
  template <int R>
  void multiply(const Block* blocks, const int8_t* values, const int32_t* zeros, float* y, int width) const {
    const size_t depth = static_cast<size_t>(groups_) * GROUP;
    Floats sums[R] = {};
    for (int g = 0; g < groups_; ++g, ++blocks) {
      Ints totals[R] = {};
      for (size_t at = 0; at < sizeof(Block); at += 64)
        __builtin_prefetch(reinterpret_cast<const char*>(blocks) + AHEAD + at, 0, 2);
#pragma GCC unroll 4
      for (int j = 0; j < GROUP / 8; ++j) {
        const Ints both = load(reinterpret_cast<const int32_t*>(blocks->codes + j * 4 * WIDTH));
        const Ints near = both & 0x0f0f0f0f, far = both >> 4 & 0x0f0f0f0f;
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) {
          const int8_t* at = values + r * depth + g * GROUP + j * 8;
          totals[r] = add_products(add_products(totals[r], near, all_four_bytes(at)), far, all_four_bytes(at + 4));
        }
      }
      const Floats steps = upper_halves(blocks->steps);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        const int32_t zero = zeros[static_cast<size_t>(r) * groups_ + g];
        sums[r] += to_floats(whole_sums(totals[r]) - zero) * steps;
      }
    }
    for (int r = 0; r < R; ++r) store(y + static_cast<size_t>(r) * width, sums[r]);
  }

  int groups_;
  Buffer<Block> blocks_;
};
