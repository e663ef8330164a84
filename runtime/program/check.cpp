// Compares the results of ENTRY's instruction set with those of plain loops, over whole numbers or in double precision.
// Built by the target weebill-check, for tests on emulated processors.
#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "../engine/attention.h"
#include "../engine/int8_linear.h"
#include "../engine/linear.h"
#include "../engine/normalise.h"

namespace {

int faults = 0;
std::mt19937 draw(1);

void expect(bool holds, const char* what, int m = 0, int n = 0) {
  if (!holds && ++faults < 10) std::printf("%s: wrong at %d, %d\n", what, m, n);
}

void near(double found, double expected, double most, const char* what, int m = 0, int n = 0) {
  expect(std::abs(found - expected) <= most * (1 + std::abs(expected)), what, m, n);
}

float number() { return std::normal_distribution<float>()(draw); }
int code(int least) { return std::uniform_int_distribution<int>(least, 127)(draw); }

std::vector<float> numbers(size_t count) {
  std::vector<float> found(count);
  for (float& one : found) one = number();
  return found;
}

// Check products of codes; `put` writes them as activations.
template <class P, class Put>
void check_codes(int rows, int inputs, int outputs, int least, const char* what, Put put) {
  std::vector<int8_t> w(static_cast<size_t>(outputs) * inputs);
  for (int8_t& one : w) one = static_cast<int8_t>(code(-127));
  if (!w.empty()) std::fill_n(w.begin(), inputs, 127);  // makes the largest sums
  const std::vector<float> step(outputs, 1), bias(outputs, 3);
  const Linear<P> linear(w.data(), outputs, inputs, step.data(), bias.data(), 1);
  std::vector<float> x(static_cast<size_t>(rows) * linear.depth), y(static_cast<size_t>(rows) * linear.padded);
  Buffer<typename P::Value> values;
  values.room(x.size() + LANES);
  for (int m = 0; m < rows; ++m)
    for (int k = 0; k < inputs; ++k) x[static_cast<size_t>(m) * linear.depth + k] = m ? code(least) : 127;
  for (size_t i = 0; i < x.size(); i += LANES) put(values.data() + i, load(x.data() + i));
  linear(values.data(), rows,
         [&](int m, int n, Floats sum) { store(y.data() + static_cast<size_t>(m) * linear.padded + n, sum); });
  for (int n = 0; n < outputs; ++n) {
    linear.weights(n, inputs,
                   [&](int k, int8_t one) { expect(one == w[static_cast<size_t>(n) * inputs + k], what, n, k); });
    for (int m = 0; m < rows; ++m) {
      int64_t sum = 3;
      for (int k = 0; k < inputs; ++k)
        sum += static_cast<int64_t>(x[static_cast<size_t>(m) * linear.depth + k]) *
               w[static_cast<size_t>(n) * inputs + k];
      expect(y[static_cast<size_t>(m) * linear.padded + n] == static_cast<float>(sum), what, m, n);
    }
  }
}

// Check products of floats; what(x) is x rounded to P.
template <class P, class T, class Round>
void check_floats(int rows, int inputs, int outputs, double most, const char* what, Round round) {
  const auto numbers_of = [&](size_t count, std::vector<T>& rounded, std::vector<float>& exact) {
    for (size_t i = 0; i < count; ++i) {
      const auto [one, value] = round(number());
      rounded.push_back(one), exact.push_back(value);
    }
  };
  std::vector<T> weights;
  std::vector<float> w, x;
  numbers_of(static_cast<size_t>(outputs) * inputs, weights, w);
  const std::vector<float> step(outputs, 1), bias = numbers(outputs);
  const Linear<P> linear(weights.data(), outputs, inputs, step.data(), bias.data(), 1);
  std::vector<T> values;
  numbers_of(static_cast<size_t>(rows) * linear.depth, values, x);
  for (int m = 0; m < rows; ++m)
    for (int k = inputs; k < linear.depth; ++k) values[static_cast<size_t>(m) * linear.depth + k] = T();
  linear(values.data(), rows, [&](int m, int n, Floats sums) {
    for (int lane = 0; lane < LANES && n + lane < outputs; ++lane) {
      double sum = bias[n + lane], size = std::abs(sum);
      for (int k = 0; k < inputs; ++k) {
        const double one = static_cast<double>(x[static_cast<size_t>(m) * linear.depth + k]) *
                           w[static_cast<size_t>(n + lane) * inputs + k];
        sum += one, size += std::abs(one);
      }
      expect(std::abs(sums[lane] - sum) <= most * (1 + size), what, m, n);
    }
  });
}

template <class T, int R>
void check_attention(int length, int head, double most, const char* what) {
  const std::vector<float> keys = numbers(static_cast<size_t>(length) * head), values = numbers(keys.size());
  const std::vector<float> queries = numbers(static_cast<size_t>(R) * head);
  Buffer<T> room;
  Buffer<float> weights, out;
  const auto memory =
      lay_out(keys.data(), values.data(), head, length, head, room.room(Memory<T>::size(length, head)));
  attend<R>(queries.data(), head, memory, head, 0.3f, weights.room(R * memory.padded),
            [=, to = out.room(queries.size())](int r, int c, Floats y) { store(to + r * head + c, y); });
  for (int r = 0; r < R; ++r) {
    double total = 0;
    std::vector<double> mixed(head);
    for (int j = 0; j < length; ++j) {
      double score = 0;
      for (int c = 0; c < head; ++c) score += static_cast<double>(queries[r * head + c]) * keys[j * head + c];
      const double weight = std::exp(0.3 * score);
      total += weight;
      for (int c = 0; c < head; ++c) mixed[c] += weight * values[j * head + c];
    }
    for (int c = 0; c < head; ++c) near(out.data()[r * head + c], mixed[c] / total, most, what, r, c);
  }
}

void check_functions() {
  for (float x = -30; x < 30; x += 0.37f) {
    near(exponential(all(x))[0] / std::exp(static_cast<double>(x)), 1, 2e-6, "exponential");
    near(sigmoid(all(x))[1], 1 / (1 + std::exp(-static_cast<double>(x))), 1e-6, "sigmoid");
    near(activated(all(x), Activation::gelu)[2], 0.5 * x * (1 + std::erf(x * std::sqrt(0.5))), 1e-6, "gelu");
  }
  Floats rows[LANES], turned[LANES], same[LANES];
  for (int i = 0; i < LANES; ++i)
    for (int j = 0; j < LANES; ++j) rows[i][j] = turned[i][j] = same[i][j] = static_cast<float>(100 * i + j);
  transpose(turned);
  const Floats total = sums(same);
  for (int i = 0; i < LANES; ++i) {
    expect(total[i] == sum(rows[i]) && largest(rows[i]) == rows[i][LANES - 1], "sums", i);
    for (int j = 0; j < LANES; ++j) expect(turned[i][j] == rows[j][i], "transpose", i, j);
  }
  for (const float x : {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 126.5f, -126.5f})
    expect(to_nearest(all(x))[0] == std::nearbyint(x), "to_nearest");
  const int d = 80;
  std::vector<float> x = numbers(d), gain = numbers(d), bias = numbers(d), y = x, copy(d);
  normalise<Float32>(y.data(), 1, d, {gain.data(), bias.data()}, copy.data(), d, 1);
  double mean = 0, squares = 0;
  for (const float one : x) mean += one / d;
  for (const float one : x) squares += (one - mean) * (one - mean) / d;
  for (int i = 0; i < d; ++i)
    near(y[i], (x[i] - mean) / std::sqrt(squares + 1e-5) * gain[i] + bias[i], 1e-5, "normalise", i);
}

}  // namespace

// Return the number of wrong results.
extern "C" int ENTRY() {
  constexpr std::array<int, 3> SHAPES[] = {{1, 7, 16},    {9, 64, 65}, {70, 130, 200}, {13, 200, 48}, {3, 256, 16},
                                           {2, 1024, 32}, {0, 64, 16}, {6, 16, 1},     {8, 512, 96}};
  for (const auto& [rows, inputs, outputs] : SHAPES) {
    check_codes<Int8>(rows, inputs, outputs, -127, "int8", [](auto* to, Floats x) { Int8::store(to, x, 1); });
    check_codes<Int8::Positive>(rows, inputs, outputs, 0, "positive int8",
                                [](auto* to, Floats x) { Int8::Positive::store_positive(to, x); });
    check_floats<Float32, float>(rows, inputs, outputs, 1e-6, "float32",
                                 [](float x) { return std::pair<float, float>(x, x); });
#ifdef BFLOAT16
    check_floats<Bfloat16, int16_t>(rows, inputs, outputs, 1e-5, "bfloat16", [](float x) {
      int16_t bits[LANES];
      Bfloat16::store(bits, all(x), 1);
      const int32_t wide = bits[0] << 16;
      std::memcpy(&x, &wide, sizeof x);
      return std::pair(bits[0], x);
    });
#endif
  }
  for (const int length : {1, 5, 16, 33, 70})
    for (const int head : {16, 32, 64}) {
      check_attention<float, 1>(length, head, 1e-5, "attention");
      check_attention<float, 4>(length, head, 1e-5, "attention of four");
      check_attention<float, 8>(length, head, 1e-5, "attention of eight");
      check_attention<Word, 2>(length, head, 3e-4, "attention on words");
    }
  check_functions();
  return faults;
}
