"""BART and Marian, which have the same structure: an encoder, and a decoder with cross-attention."""

from typing import ClassVar

from torch import nn
from transformers.models.bart.modeling_bart import BartAttention
from transformers.models.marian.modeling_marian import MarianAttention

from weebill.hugging_face.family import Family, count_positions
from weebill.pruning.structure import AttentionBlock, FeedForwardBlock, LayerStack


class HeadlessAttention:
    """Replacement of an attention without heads, which returns its output bias."""

    def forward(self, hidden_states, key_value_states=None, past_key_values=None, **_):
        """Map hidden_states (b, positions, d) → the same shape, without attention weights."""
        if key_value_states is None:
            count_positions(past_key_values, self.layer_idx, hidden_states)
        return self.out_proj(hidden_states[..., :0]), None


class HeadlessBartAttention(HeadlessAttention, BartAttention):
    """Replacement of BART's attention without heads."""


class HeadlessMarianAttention(HeadlessAttention, MarianAttention):
    """Replacement of Marian's attention without heads."""


class Bart(Family):
    """View of a BartModel, or of any model that contains one."""

    headless: ClassVar[type[nn.Module]] = HeadlessBartAttention

    def attention_blocks(self) -> list[AttentionBlock]:
        """List encoder.N.self_attention, then decoder.N.self_attention and decoder.N.cross_attention."""
        encoder, decoder = self.core.encoder, self.core.decoder
        blocks = [
            self._attention_block(f"encoder.{i}.self_attention", layer.self_attn, encoder)
            for i, layer in enumerate(encoder.layers)
        ]
        for i, layer in enumerate(decoder.layers):
            blocks += [
                self._attention_block(f"decoder.{i}.self_attention", layer.self_attn, decoder),
                self._attention_block(f"decoder.{i}.cross_attention", layer.encoder_attn, decoder),
            ]
        return blocks

    def _attention_block(self, name: str, attention: nn.Module, stack: nn.Module) -> AttentionBlock:
        def set_shape(heads: int) -> None:
            attention.num_heads = heads
            if not heads:
                attention.__class__ = self.headless

        return AttentionBlock(
            name,
            attention.q_proj,
            attention.k_proj,
            attention.v_proj,
            attention.out_proj,
            heads=attention.num_heads,
            head_size=attention.head_dim,
            set_shape=set_shape,
            set_recorder=self.recorder_of(attention, stack),
        )

    def feed_forward_blocks(self) -> list[FeedForwardBlock]:
        """List encoder.N.feed_forward, then decoder.N.feed_forward."""
        return [
            FeedForwardBlock(f"{side}.{i}.feed_forward", layer.fc1, layer.fc2)
            for side in ("encoder", "decoder")
            for i, layer in enumerate(getattr(self.core, side).layers)
        ]

    def layer_stacks(self) -> list[LayerStack]:
        """Return the stacks of encoder and decoder."""
        return [
            self.stack_of(side, getattr(self.core, side).layers, f"{side}_layers")
            for side in ("encoder", "decoder")
        ]


class Marian(Bart):
    """View of a MarianModel, or of any model that contains one."""

    headless = HeadlessMarianAttention
