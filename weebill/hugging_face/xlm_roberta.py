"""XLM-R, XLM-R-XL, BERT and RemBERT: encoders of self-attention and feed-forward, with equal names of their parts."""

from torch import nn

from weebill.hugging_face.families import Family, Stack, count_positions


class HeadlessAttention:
    """Methods of an attention without heads, which returns zero features; the output map adds its bias."""

    def forward(self, hidden_states, *_, past_key_values=None, **__):
        """Map hidden_states (b, positions, d) → (b, positions, 0), without attention weights."""
        count_positions(past_key_values, self.layer_idx, hidden_states)
        return hidden_states[..., :0], None


class XLMRoberta(Family):
    """View of an XLMRobertaModel, of another of these encoders, or of any model that contains one."""

    stacks = (Stack("encoder", "encoder.layer", "num_hidden_layers", "attention.self", masked=""),)
    heads, head_size, width = "num_attention_heads", "attention_head_size", "all_head_size"
    feed_forward, headless = ("intermediate.dense", "output.dense"), HeadlessAttention

    def projections(self, layer: nn.Module, attention: nn.Module) -> list[nn.Module]:
        """Implement `Family`."""
        return [attention.query, attention.key, attention.value, layer.attention.output.dense]
