// A linear map of any model on weights of 4 bits, 32 inputs of each output with a step: w = (code − 8)·step.  Half the
// bytes of Int8Linear are read, which is what a step of few rows takes its time for.
//
// Weights lie in blocks of 8 outputs × 32 inputs, those of the same outputs one after another.  Codes 0…15 are multiplied
// by activations −127…127, 8 products of two summed in 16 bits (8·2·15·127 < 2¹⁵); 8·Σ activations is taken off again.
#pragma once

#include <vector>

#include "coded_linear.h"

class Int4Linear : public CodedLinear {
 public:
  static constexpr int GROUP = 32, WIDTH = 8;  // inputs, and outputs, of a block

  // codes: (outputs, inputs padded to GROUP) row by row, −8…7; steps: (outputs, groups), of which 16 bits are kept.
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
    int32_t* zeros = zeros_room.room(static_cast<size_t>(rows) * groups_);  // what ZERO of all codes adds up to
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
  static constexpr int ZERO = 8;  // the code of 0
  using Bytes = int8_t __attribute__((vector_size(LANES)));

  // In each run of 32 bytes, four of each output: inputs 0…3 of eight in the low half of a byte, 4…7 in the high one.
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
#ifdef __AVX2__
    const __m256i low = _mm256_set1_epi8(15), ones = _mm256_set1_epi16(1);
    __m256 sums[R];
    for (int r = 0; r < R; ++r) sums[r] = _mm256_setzero_ps();
    for (int g = 0; g < groups_; ++g, ++blocks) {
      __m256i totals[R];
      for (int r = 0; r < R; ++r) totals[r] = _mm256_setzero_si256();
#pragma GCC unroll 4
      for (int j = 0; j < GROUP / 8; ++j) {
        const __m256i both = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(blocks->codes + j * 32));
        const __m256i near = _mm256_and_si256(both, low), far = _mm256_and_si256(_mm256_srli_epi16(both, 4), low);
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) {
          const int8_t* at = values + r * depth + g * GROUP + j * 8;
          const __m256i products = _mm256_add_epi16(_mm256_maddubs_epi16(near, (__m256i)four(at)),
                                                    _mm256_maddubs_epi16(far, (__m256i)four(at + 4)));
          totals[r] = _mm256_add_epi16(totals[r], products);
        }
      }
      const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(blocks->steps));
      const __m256 steps = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        const __m256i zero = _mm256_set1_epi32(zeros[static_cast<size_t>(r) * groups_ + g]);
        const __m256i whole = _mm256_sub_epi32(_mm256_madd_epi16(totals[r], ones), zero);
        sums[r] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(whole), steps, sums[r]);
      }
    }
    for (int r = 0; r < R; ++r) _mm256_storeu_ps(y + static_cast<size_t>(r) * width, sums[r]);
#else
    float sums[R][WIDTH] = {};
    for (int g = 0; g < groups_; ++g, ++blocks)
      for (int r = 0; r < R; ++r) {
        int32_t totals[WIDTH] = {};
        for (int k = 0; k < GROUP; ++k)
          for (int i = 0; i < WIDTH; ++i) totals[i] += blocks->code(i, k) * values[r * depth + g * GROUP + k];
        for (int i = 0; i < WIDTH; ++i)
          sums[r][i] += static_cast<float>(totals[i] - zeros[static_cast<size_t>(r) * groups_ + g]) * blocks->step(i);
      }
    for (int r = 0; r < R; ++r) std::copy_n(sums[r], WIDTH, y + static_cast<size_t>(r) * width);
#endif
  }

#ifdef __AVX2__
  static __m256i four(const int8_t* from) {  // bytes, the same in all lanes
    int32_t bytes;
    std::memcpy(&bytes, from, sizeof bytes);
    return _mm256_set1_epi32(bytes);
  }
#endif

  int groups_;
  Buffer<Block> blocks_;
};
