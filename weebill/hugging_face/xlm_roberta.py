"""XLM-R: an encoder of self-attention and feed-forward."""

from torch import nn
from transformers.models.xlm_roberta.modeling_xlm_roberta import XLMRobertaSelfAttention

from weebill.hugging_face.family import Family, count_positions
from weebill.pruning.structure import AttentionBlock, FeedForwardBlock, LayerStack


class XLMRoberta(Family):
    """View of an XLMRobertaModel, or of any model that contains one."""

    def attention_blocks(self) -> list[AttentionBlock]:
        """List encoder.N.self_attention."""
        return [
            self._attention_block(f"encoder.{i}.self_attention", layer)
            for i, layer in enumerate(self.core.encoder.layer)
        ]

    def _attention_block(self, name: str, layer: nn.Module) -> AttentionBlock:
        attention = layer.attention.self

        def set_shape(heads: int) -> None:
            attention.num_attention_heads = heads
            attention.all_head_size = heads * attention.attention_head_size
            if not heads:
                attention.__class__ = HeadlessAttention

        return AttentionBlock(
            name,
            attention.query,
            attention.key,
            attention.value,
            layer.attention.output.dense,
            heads=attention.num_attention_heads,
            head_size=attention.attention_head_size,
            set_shape=set_shape,
            set_recorder=self.recorder_of(attention, self.core),
        )

    def feed_forward_blocks(self) -> list[FeedForwardBlock]:
        """List encoder.N.feed_forward."""
        return [
            FeedForwardBlock(
                f"encoder.{i}.feed_forward", layer.intermediate.dense, layer.output.dense
            )
            for i, layer in enumerate(self.core.encoder.layer)
        ]

    def layer_stacks(self) -> list[LayerStack]:
        """Return the stack of the encoder."""
        return [self.stack_of("encoder", self.core.encoder.layer, "num_hidden_layers")]


class HeadlessAttention(XLMRobertaSelfAttention):
    """Replacement of an attention without heads, which returns zero features; the output map adds its bias."""

    def forward(self, hidden_states, *_, past_key_values=None, **__):
        """Map hidden_states (b, positions, d) → (b, positions, 0), without attention weights."""
        count_positions(past_key_values, self.layer_idx, hidden_states)
        return hidden_states[..., :0], None
