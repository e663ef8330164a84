"""T5 and mT5: an encoder and a decoder without biases, with learned relative positions in the self-attention scores.

A stack has one table of positions (distances, heads) in its first layer, which passes the looked-up entries to the
other layers.  The table keeps the columns of all heads; a cut attention selects the columns of its remaining heads.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

from weebill.hugging_face.families import Family, Stack, become, count_positions
from weebill.pruning.structure import AttentionBlock, FeedForwardBlock

TABLE = "relative_attention_bias"  # attribute of the attention module for its table
KEPT_HEADS = "kept_heads"  # buffer of a cut attention
OWN = "layer.0.SelfAttention"


class CutAttention:
    """Methods of an attention that lost heads; the buffer `kept_heads` (h,) numbers the remaining ones."""

    def forward(
        self,
        hidden_states,
        mask=None,
        key_value_states=None,
        position_bias=None,
        past_key_values=None,
        **keywords,
    ):
        """Map (b, positions, d), like T5Attention, to the same shape, position scores for all layers, and weights."""
        if key_value_states is not None:
            position_bias = hidden_states.new_zeros(1, 1, 1, 1)
            own = position_bias[:, : self.n_heads]
        else:
            if position_bias is None:
                # the table's entries (1, all heads, queries, keys)
                queries, cache = hidden_states.shape[1], past_key_values
                past = 0 if cache is None else cache.get_seq_length(self.layer_idx)
                position_bias = self.compute_bias(queries, past + queries, past_seen_tokens=past)
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
            become(self.attention, CutAttention)
            self.attention.register_buffer(KEPT_HEADS, chosen)


class T5(Family):
    """View of a T5Model or T5ForConditionalGeneration, or mT5's, or of any model that contains one."""

    stacks = (
        Stack("encoder", "encoder.block", "num_layers", OWN),
        Stack("decoder", "decoder.block", "num_decoder_layers", OWN, "layer.1.EncDecAttention"),
    )
    heads, head_size, width = "n_heads", "key_value_proj_dim", "inner_dim"
    maps, weights_at = ("q", "k", "v", "o"), 2
    activated = (("wi", "act"), ("wi_0", "act"))

    def attention_block(
        self, name: str, stack: Stack, layer: nn.Module, path: str
    ) -> T5AttentionBlock:
        """Make a block that records the numbers of its remaining heads."""
        plain = super().attention_block(name, stack, layer, path)
        return T5AttentionBlock(**vars(plain), attention=layer.get_submodule(path))

    def feed_forward_block(self, name: str, layer: nn.Module) -> FeedForwardBlock:
        """Implement `Family`."""
        dense = layer.layer[-1].DenseReluDense
        if hasattr(dense, "wi_1"):
            return FeedForwardBlock(name, dense.wi_0, dense.wo, gate=dense.wi_1)
        return FeedForwardBlock(name, dense.wi, dense.wo)

    def set_depth(self, stack: Stack, layers: nn.ModuleList, former: nn.Module, depth: int) -> None:
        """Implement `Family`; a new first layer gets the table."""
        super().set_depth(stack, layers, former, depth)
        getattr(self.core, stack.name).config.num_layers = depth
        owner, first = (layer.get_submodule(OWN) for layer in (former, layers[0]))
        if first is not owner:
            first.add_module(TABLE, getattr(owner, TABLE))
            first.has_relative_attention_bias = True
