"""BART, mBART, Pegasus, Marian, M2M-100 and NLLB: an encoder, and a decoder with cross-attention; and OPT, a decoder.

Their modules have the same names; they differ in the places of norms and the kinds of positions.
"""

from weebill.hugging_face.families import Family, Stack, count_positions


class HeadlessAttention:
    """Methods of an attention without heads, which returns its output bias."""

    def forward(self, hidden_states, key_value_states=None, past_key_values=None, **_):
        """Map hidden_states (b, positions, d) → the same shape, without attention weights."""
        if key_value_states is None:
            count_positions(past_key_values, self.layer_idx, hidden_states)
        return self.out_proj(hidden_states[..., :0]), None


class Bart(Family):
    """View of a BartModel, of another of these encoder-decoders, or of any model that contains one."""

    stacks = (
        Stack("encoder", "encoder.layers", "encoder_layers", "self_attn"),
        Stack("decoder", "decoder.layers", "decoder_layers", "self_attn", "encoder_attn"),
    )
    heads, head_size = "num_heads", "head_dim"
    maps, feed_forward = ("q_proj", "k_proj", "v_proj", "out_proj"), ("fc1", "fc2")
    headless = HeadlessAttention
    activated = (("fc1", "activation_fn"),)


class OPT(Bart):
    """View of an OPTModel, or of any model that contains one."""

    stacks = (Stack("decoder", "decoder.layers", "num_hidden_layers", "self_attn"),)
