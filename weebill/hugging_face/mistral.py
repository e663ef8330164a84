"""Mistral: Llama, perhaps with a sliding window."""

from transformers.models.mistral.modeling_mistral import MistralAttention

from weebill.hugging_face.llama import HeadlessGroupedAttention, Llama


class HeadlessMistralAttention(HeadlessGroupedAttention, MistralAttention):
    """Replacement of Mistral's attention without heads."""


class Mistral(Llama):
    """View of a MistralModel, or of any model that contains one."""

    headless = HeadlessMistralAttention
