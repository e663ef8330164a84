"""Pegasus: BART with a norm before each block, and with sinusoidal positions."""

from transformers.models.pegasus.modeling_pegasus import (
    PegasusAttention,
    PegasusDecoderLayer,
    PegasusEncoderLayer,
)

from weebill.hugging_face.bart import Bart, HeadlessAttention


class HeadlessPegasusAttention(HeadlessAttention, PegasusAttention):
    """Replacement of Pegasus' attention without heads."""


class Pegasus(Bart):
    """View of a PegasusModel, or of any model that contains one."""

    headless = HeadlessPegasusAttention
    activated = (
        (PegasusEncoderLayer, "fc1", "activation_fn"),
        (PegasusDecoderLayer, "fc1", "activation_fn"),
    )
