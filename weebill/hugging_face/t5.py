"""T5: an encoder and a decoder without biases, with learned relative positions in the self-attention scores.

A stack has one table of positions (distances, heads) in its first layer, which passes the looked-up entries to the
other layers.  The table keeps the columns of all heads; a cut attention selects the columns of its remaining heads.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from transformers.models.t5.modeling_t5 import T5Attention, T5DenseGatedActDense

from weebill.hugging_face.family import Family, count_positions
from weebill.pruning.structure import AttentionBlock, FeedForwardBlock, LayerStack

TABLE = "relative_attention_bias"  # attribute of the attention module for its table


class CutAttention(T5Attention):
    """Replacement of an attention that lost heads; the buffer `kept_heads` (h,) numbers the remaining ones."""

    def forward(
        self,
        hidden_states,
        mask=None,
        key_value_states=None,
        position_bias=None,
        past_key_values=None,
        **keywords,
    ):
        """Map (b, positions, d) as T5Attention → the same shape, the position scores of all layers, and weights."""
        if key_value_states is not None:
            position_bias = hidden_states.new_zeros(1, 1, 1, 1)
            own = position_bias[:, : self.n_heads]
        else:
            if position_bias is None:
                position_bias = self._positions(hidden_states, past_key_values)
            own = position_bias[:, self.kept_heads]
        if not self.n_heads:
            if key_value_states is None:
                count_positions(past_key_values, self.layer_idx, hidden_states)
            # `own` is empty: its sum gives the table its gradient, of zeros, which DDP waits for
            return self.o(hidden_states[..., :0]) + own.sum(), position_bias, None
        output, _, weights = super().forward(
            hidden_states, mask, key_value_states, own, past_key_values, **keywords
        )
        return output, position_bias, weights

    def _positions(self, x: Tensor, cache) -> Tensor:
        """Return the table's entries (1, all heads, queries, keys)."""
        past = 0 if cache is None else cache.get_seq_length(self.layer_idx)
        queries = x.shape[1]
        return self.compute_bias(queries, past + queries, device=x.device, past_seen_tokens=past)


@dataclass
class T5AttentionBlock(AttentionBlock):
    """Attention block of T5; `attention` is its module."""

    attention: nn.Module | None = None

    def keep(self, heads: Sequence[int]) -> None:
        """Keep only these heads, as `AttentionBlock` does, and record their numbers."""
        super().keep(heads)
        chosen = torch.tensor(list(heads), dtype=torch.long, device=self.out.weight.device)
        if isinstance(self.attention, CutAttention):
            self.attention.kept_heads = self.attention.kept_heads[chosen]
        else:
            self.attention.__class__ = CutAttention
            self.attention.register_buffer("kept_heads", chosen)


class T5(Family):
    """View of a T5Model or T5ForConditionalGeneration, or of any model that contains one."""

    weights_at = 2

    def attention_blocks(self) -> list[AttentionBlock]:
        """List encoder.N.self_attention, then decoder.N.self_attention and decoder.N.cross_attention."""
        encoder, decoder = self.core.encoder, self.core.decoder
        blocks = [
            self._attention_block(
                f"encoder.{i}.self_attention", block.layer[0].SelfAttention, encoder
            )
            for i, block in enumerate(encoder.block)
        ]
        for i, block in enumerate(decoder.block):
            own, cross = block.layer[0].SelfAttention, block.layer[1].EncDecAttention
            blocks += [
                self._attention_block(f"decoder.{i}.self_attention", own, decoder),
                self._attention_block(f"decoder.{i}.cross_attention", cross, decoder),
            ]
        return blocks

    def _attention_block(self, name: str, attention: nn.Module, stack: nn.Module) -> AttentionBlock:
        def set_shape(heads: int) -> None:
            attention.n_heads = heads
            attention.inner_dim = heads * attention.key_value_proj_dim

        return T5AttentionBlock(
            name,
            attention.q,
            attention.k,
            attention.v,
            attention.o,
            heads=attention.n_heads,
            head_size=attention.key_value_proj_dim,
            set_shape=set_shape,
            set_recorder=self.recorder_of(attention, stack),
            attention=attention,
        )

    def feed_forward_blocks(self) -> list[FeedForwardBlock]:
        """List encoder.N.feed_forward, then decoder.N.feed_forward."""
        return [
            _feed_forward_block(f"{side}.{i}.feed_forward", block.layer[-1].DenseReluDense)
            for side in ("encoder", "decoder")
            for i, block in enumerate(getattr(self.core, side).block)
        ]

    def layer_stacks(self) -> list[LayerStack]:
        """Return the stacks of encoder and decoder."""
        return [
            self._stack("encoder", "num_layers"),
            self._stack("decoder", "num_decoder_layers"),
        ]

    def _stack(self, side: str, key: str) -> LayerStack:
        stack = getattr(self.core, side)
        plain, owner = self.stack_of(side, stack.block, key), stack.block[0].layer[0].SelfAttention

        def set_depth(depth: int) -> None:
            plain.set_depth(depth)
            stack.config.num_layers = depth
            first = stack.block[0].layer[0].SelfAttention
            if first is not owner:  # another layer is now the first, and gets the table
                first.add_module(TABLE, getattr(owner, TABLE))
                first.has_relative_attention_bias = True

        return replace(plain, set_depth=set_depth)


def _feed_forward_block(name: str, dense: nn.Module) -> FeedForwardBlock:
    if isinstance(dense, T5DenseGatedActDense):
        return FeedForwardBlock(name, dense.wi_0, dense.wo, gate=dense.wi_1)
    return FeedForwardBlock(name, dense.wi, dense.wo)
