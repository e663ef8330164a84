"""BART and Marian, which have the same structure: an encoder, and a decoder with cross-attention."""

from transformers.models.bart.modeling_bart import (
    BartAttention,
    BartDecoderLayer,
    BartEncoderLayer,
)
from transformers.models.marian.modeling_marian import MarianAttention

from weebill.hugging_face.families import Family, Stack, count_positions


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

    stacks = (
        Stack("encoder", "encoder.layers", "encoder_layers", "self_attn"),
        Stack("decoder", "decoder.layers", "decoder_layers", "self_attn", "encoder_attn"),
    )
    heads, head_size = "num_heads", "head_dim"
    maps, feed_forward = ("q_proj", "k_proj", "v_proj", "out_proj"), ("fc1", "fc2")
    headless = HeadlessBartAttention
    activated = (
        (BartEncoderLayer, "fc1", "activation_fn"),
        (BartDecoderLayer, "fc1", "activation_fn"),
    )


class Marian(Bart):
    """View of a MarianModel, or of any model that contains one."""

    headless = HeadlessMarianAttention
