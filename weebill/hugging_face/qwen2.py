"""Qwen2 and Qwen2.5: Llama with biases of query, key and value."""

from transformers.models.qwen2.modeling_qwen2 import Qwen2Attention

from weebill.hugging_face.llama import HeadlessGroupedAttention, Llama


class HeadlessQwen2Attention(HeadlessGroupedAttention, Qwen2Attention):
    """Replacement of Qwen2's attention without heads."""


class Qwen2(Llama):
    """View of a Qwen2Model, or of any model that contains one."""

    headless = HeadlessQwen2Attention
