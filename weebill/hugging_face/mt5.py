"""mT5: T5 1.1, whose modules are classes of their own."""

from transformers.models.mt5.modeling_mt5 import (
    MT5Attention,
    MT5DenseActDense,
    MT5DenseGatedActDense,
)

from weebill.hugging_face.t5 import T5, CutAttention


class CutMT5Attention(CutAttention, MT5Attention):
    """Replacement of an attention of mT5 that lost heads."""


class MT5(T5):
    """View of an MT5Model or MT5ForConditionalGeneration, or of any model that contains one."""

    cut_attention, gated = CutMT5Attention, MT5DenseGatedActDense
    activated = ((MT5DenseActDense, "wi", "act"), (MT5DenseGatedActDense, "wi_0", "act"))
