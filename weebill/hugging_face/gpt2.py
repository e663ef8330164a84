"""GPT-2: a decoder of self-attention, with query, key and value in one Conv1D, and feed-forward.

The weight of Conv1D is (inputs, outputs), and Conv1D does not run without inputs.
"""

from torch import Tensor, nn
from torch.nn import functional
from transformers.models.gpt2.modeling_gpt2 import GPT2MLP, GPT2Attention
from transformers.pytorch_utils import Conv1D

from weebill.hugging_face.family import Family, count_positions
from weebill.pruning.structure import AttentionBlock, FeedForwardBlock, LayerStack, Projection


class GPT2(Family):
    """View of a GPT2Model, or of any model that contains one."""

    def attention_blocks(self) -> list[AttentionBlock]:
        """List decoder.N.self_attention."""
        return [
            self._attention_block(f"decoder.{i}.self_attention", layer.attn)
            for i, layer in enumerate(self.core.h)
        ]

    def _attention_block(self, name: str, attention: nn.Module) -> AttentionBlock:
        def set_shape(heads: int) -> None:
            attention.num_heads = heads
            attention.split_size = heads * attention.head_dim
            if not heads:
                attention.__class__ = HeadlessAttention

        return AttentionBlock(
            name,
            *(Projection(attention.c_attn, part, 3, output_axis=1) for part in range(3)),
            Projection(attention.c_proj, output_axis=1),
            heads=attention.num_heads,
            head_size=attention.head_dim,
            set_shape=set_shape,
            set_recorder=self.recorder_of(attention, self.core),
        )

    def feed_forward_blocks(self) -> list[FeedForwardBlock]:
        """List decoder.N.feed_forward."""
        return [
            self._feed_forward_block(f"decoder.{i}.feed_forward", layer.mlp)
            for i, layer in enumerate(self.core.h)
        ]

    def _feed_forward_block(self, name: str, mlp: nn.Module) -> FeedForwardBlock:
        def set_shape(neurons: int) -> None:
            if not neurons:
                mlp.__class__ = NeuronlessMLP

        inner, outer = (Projection(module, output_axis=1) for module in (mlp.c_fc, mlp.c_proj))
        return FeedForwardBlock(name, inner, outer, set_shape)

    def layer_stacks(self) -> list[LayerStack]:
        """Return the stack of the decoder."""
        return [self.stack_of("decoder", self.core.h, "num_hidden_layers")]


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
