"""mBART: BART with a norm before each block instead of after it."""

from transformers.models.mbart.modeling_mbart import (
    MBartAttention,
    MBartDecoderLayer,
    MBartEncoderLayer,
)

from weebill.hugging_face.bart import Bart, HeadlessAttention


class HeadlessMBartAttention(HeadlessAttention, MBartAttention):
    """Replacement of mBART's attention without heads."""


class MBart(Bart):
    """View of an MBartModel, or of any model that contains one."""

    headless = HeadlessMBartAttention
    activated = (
        (MBartEncoderLayer, "fc1", "activation_fn"),
        (MBartDecoderLayer, "fc1", "activation_fn"),
    )
