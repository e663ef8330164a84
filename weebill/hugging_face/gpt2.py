"""GPT-2: a decoder of self-attention, with query, key and value in one Conv1D, and feed-forward.

The weight of Conv1D is (inputs, outputs), and Conv1D does not run without inputs.
"""

from torch import Tensor, nn
from torch.nn import functional
from transformers.models.gpt2.modeling_gpt2 import GPT2MLP, GPT2Attention
from transformers.pytorch_utils import Conv1D

from weebill.hugging_face.families import Family, Stack, count_positions
from weebill.pruning.structure import FeedForwardBlock, Projection


class HeadlessAttention(GPT2Attention):
    """Replacement of an attention without heads, which returns its output bias."""

    def forward(self, hidden_states, past_key_values=None, **_):
        """Map hidden_states (b, positions, d) → the same shape, without attention weights."""
        count_positions(past_key_values, self.layer_idx, hidden_states)
        return self.resid_dropout(_bias(self.c_proj, hidden_states)), None


class NeuronlessMLP(GPT2MLP):
    """Replacement of a feed-forward block without neurons, which returns its output bias."""

    def forward(self, hidden_states):
        """Map hidden_states (b, positions, d) → the same shape."""
        return self.dropout(_bias(self.c_proj, hidden_states))


def _bias(projection: Conv1D, x: Tensor) -> Tensor:
    """Return the bias of a projection without inputs, as (b, positions, d) like x.

    The result depends on x formally, so that the LayerNorm before it gets a gradient of zeros, which DDP waits for.
    """
    return functional.linear(x[..., :0], projection.weight.T, projection.bias)


class GPT2(Family):
    """View of a GPT2Model, or of any model that contains one."""

    stacks = (Stack("decoder", "h", "num_hidden_layers", "attn", masked=""),)
    heads, head_size, width = "num_heads", "head_dim", "split_size"
    headless = HeadlessAttention
    activated = (("c_fc", "act"),)

    def projections(self, layer: nn.Module, attention: nn.Module) -> list[Projection]:
        """Implement `Family`."""
        inner = [Projection(attention.c_attn, part, 3, output_axis=1) for part in range(3)]
        return [*inner, Projection(attention.c_proj, output_axis=1)]

    def feed_forward_block(self, name: str, layer: nn.Module) -> FeedForwardBlock:
        """Implement `Family`."""

        def set_shape(neurons: int) -> None:
            if not neurons:
                layer.mlp.__class__ = NeuronlessMLP

        maps = (layer.mlp.c_fc, layer.mlp.c_proj)
        return FeedForwardBlock(name, *(Projection(one, output_axis=1) for one in maps), set_shape)
