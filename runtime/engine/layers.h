// The layers of a student: fused linear maps, norms and sizes.
// d: embedding width, a multiple of VECTOR.  Heads are padded with zeros to a multiple of VECTOR numbers.
#pragma once

#include "attention.h"
#include "linear.h"
#include "normalise.h"
#include "parts.h"

template <class P>
struct SelfAttention {
  Heads heads;
  Linear<P> projections;  // queries, keys, values: 3·width outputs
  Linear<P> out;
};

template <class P>
struct CrossAttention {
  Heads heads;
  Linear<P> query;
  Linear<P> memory;  // keys, values: 2·width outputs
  Linear<P> out;
};

template <class P>
struct FeedForward {
  using Positive = typename P::Positive;  // the type of what ReLU returns

  Linear<P> inner;  // its outputs are in units of the outer map's activations
  Linear<Positive> outer;

  FeedForward() = default;
  FeedForward(Linear<P> first, Linear<Positive> second) : inner(std::move(first)), outer(std::move(second)) {
    inner.rescale(outer.scale);
  }
};

template <class P>
struct EncoderLayer {
  SelfAttention<P> attention;
  Norm attention_norm;
  FeedForward<P> feed_forward;
  Norm feed_forward_norm;
};

template <class P>
struct DecoderLayer {
  Linear<P> gates;                  // of an SSRU: candidate, then forget gate, 2·d outputs
  SelfAttention<P> self_attention;  // of a decoder with self-attention
  Norm self_norm;
  CrossAttention<P> attention;
  Norm attention_norm;
  FeedForward<P> feed_forward;
  Norm feed_forward_norm;
};

// to[m] ← W·values[m] + b, rows `stride` apart.  Not inlined, so that all callers share one copy of the product.
template <class P>
__attribute__((noinline)) void write_product(const Linear<P>& linear, const typename P::Value* values, int rows,
                                             float* to, int stride) {
  linear(values, rows, [=](int m, int n, Floats y) INLINE { store(to + static_cast<size_t>(m) * stride + n, y); });
}

// x[m] += W·values[m] + b.  The epilogue of the product adds the residual connection.
template <class P>
__attribute__((noinline)) void add_product(const Linear<P>& linear, const typename P::Value* values, int rows, float* x, int d) {
  linear(values, rows, [=](int m, int n, Floats y) INLINE {
    float* to = x + static_cast<size_t>(m) * d + n;
    store(to, load(to) + y);
  });
}

// x[m] += W₂·ReLU(W₁·values[m] + b₁) + b₂.  The epilogue of the first product rounds the inner activations.
template <class P, class Positive = typename P::Positive>
void add_feed_forward(const FeedForward<P>& block, const typename P::Value* values, int rows,
                      Buffer<typename Positive::Value>& room, float* x, int d) {
  const int depth = block.outer.depth;
  typename Positive::Value* inner = room.room(static_cast<size_t>(rows) * depth);
  block.inner(values, rows, [=](int m, int n, Floats y) INLINE {
    Positive::store_positive(inner + static_cast<size_t>(m) * depth + n, y);
  });
  add_product(block.outer, inner, rows, x, d);
}
