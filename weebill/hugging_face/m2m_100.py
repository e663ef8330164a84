"""M2M-100 and NLLB: BART with a norm before each block, and with sinusoidal positions."""

from transformers.models.m2m_100.modeling_m2m_100 import (
    M2M100Attention,
    M2M100DecoderLayer,
    M2M100EncoderLayer,
)

from weebill.hugging_face.bart import Bart, HeadlessAttention


class HeadlessM2M100Attention(HeadlessAttention, M2M100Attention):
    """Replacement of M2M-100's attention without heads."""


class M2M100(Bart):
    """View of an M2M100Model, or of any model that contains one."""

    headless = HeadlessM2M100Attention
    activated = (
        (M2M100EncoderLayer, "fc1", "activation_fn"),
        (M2M100DecoderLayer, "fc1", "activation_fn"),
    )
