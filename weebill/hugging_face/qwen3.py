"""Qwen3: Llama with norms of the queries and keys of each head."""

from transformers.models.qwen3.modeling_qwen3 import Qwen3Attention

from weebill.hugging_face.llama import HeadlessGroupedAttention, Llama


class HeadlessQwen3Attention(HeadlessGroupedAttention, Qwen3Attention):
    """Replacement of Qwen3's attention without heads."""


class Qwen3(Llama):
    """View of a Qwen3Model, or of any model that contains one."""

    headless = HeadlessQwen3Attention
