"""Llama, Mistral, Qwen2, Qwen3: a decoder with rotary positions, grouped attention, gated feed-forward (SwiGLU).

A head to prune is a group: the query heads that share a key and a value.  A neuron owns an output of the activated
map and of the gate, and an input of the outer map.
"""

from torch import nn

from weebill.hugging_face.families import Family, Stack, count_positions
from weebill.pruning.structure import FeedForwardBlock


class HeadlessAttention:
    """Methods of an attention without heads, which returns its output bias, or zeros."""

    def forward(self, hidden_states, *_, past_key_values=None, **__):
        """Map hidden_states (b, positions, d) → the same shape, without attention weights."""
        count_positions(past_key_values, self.layer_idx, hidden_states)
        return self.o_proj(hidden_states[..., :0]), None


class Llama(Family):
    """View of a LlamaModel, of another of these decoders, or of any model that contains one."""

    stacks = (Stack("decoder", "layers", "num_hidden_layers", "self_attn", masked=""),)
    grouped, head_size = True, "head_dim"
    maps = ("q_proj", "k_proj", "v_proj", "o_proj")
    headless = HeadlessAttention
    activated = (("gate_proj", "act_fn"),)

    def feed_forward_block(self, name: str, layer: nn.Module) -> FeedForwardBlock:
        """Implement `Family`."""
        maps = layer.mlp
        return FeedForwardBlock(name, maps.gate_proj, maps.down_proj, gate=maps.up_proj)

    def set_depth(self, stack: Stack, layers: nn.ModuleList, former: nn.Module, depth: int) -> None:
        """Implement `Family`; where layers have types, the configuration lists those of the remaining ones."""
        types = getattr(self.core.config, "layer_types", None)
        if types is not None:
            places = [layer.self_attn.layer_idx for layer in layers]  # before they are counted anew
            self.core.config.layer_types = [types[place] for place in places]
        super().set_depth(stack, layers, former, depth)
