"""OPT: a decoder of self-attention and feed-forward, whose modules have the names of BART's."""

from transformers.models.opt.modeling_opt import OPTAttention, OPTDecoderLayer

from weebill.hugging_face.bart import Bart, HeadlessAttention
from weebill.hugging_face.families import Stack


class HeadlessOPTAttention(HeadlessAttention, OPTAttention):
    """Replacement of OPT's attention without heads."""


class OPT(Bart):
    """View of an OPTModel, or of any model that contains one."""

    stacks = (Stack("decoder", "decoder.layers", "num_hidden_layers", "self_attn"),)
    headless = HeadlessOPTAttention
    activated = ((OPTDecoderLayer, "fc1", "activation_fn"),)
