"""Decoders of int8 models as descriptions for the compiled engine, by the class of the base model."""

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding
from transformers.models.mistral.modeling_mistral import MistralModel

from weebill.errors import InputError
from weebill.hugging_face.families import prunable
from weebill.hugging_face.t5 import OWN, CutAttention
from weebill.kernels.decoder import Attention, Decoder, Layer
from weebill.kernels.int8_layers import Int8Embedding, Int8Linear


def describe(model: PreTrainedModel) -> Decoder:
    """Return the description of an int8 model's decoder.

    Raises InputError if the model's family has no description, or a description cannot express what it computes.
    """
    core = prunable(model).core
    for base in type(core).__mro__:
        if base.__name__ in DESCRIPTIONS:
            return DESCRIPTIONS[base.__name__](model, core)
    raise _unknown(model, "it is of another class")


def encoder_limits(model: PreTrainedModel) -> tuple[int, int | None]:
    """Return an int8 model's number of pieces in the encoder, and its largest number of tokens; None: no limit."""
    encoder = model.get_encoder()
    pieces = encoder.get_input_embeddings().coded.shape[0]
    positions = getattr(encoder, "embed_positions", None)
    if positions is None or isinstance(positions, M2M100SinusoidalPositionalEmbedding):
        return pieces, None  # M2M-100 computes more positions where it needs them
    return pieces, len(_table(positions))


def gpt2(model: PreTrainedModel, core: nn.Module) -> Decoder:
    """Describe GPT-2: norms come first, query, key and value are one map."""
    if core.config.add_cross_attention:
        raise _unknown(model, "it has cross-attention")
    layers = []
    for block in core.h:
        attention = block.attn
        own = Attention(
            block.ln_1,
            [attention.c_attn],
            attention.c_proj,
            attention.num_heads,
            attention.head_dim,
            attention.scaling,
        )
        _check_activation(model, block.mlp.c_fc, block.mlp.act)
        layers.append(Layer(own, block.ln_2, block.mlp.c_fc, block.mlp.c_proj))
    return Decoder(
        embedding=core.wte,
        positions=_table(core.wpe),
        layers=layers,
        last_norm=core.ln_f,
        output=model.lm_head,
        norm_first=True,
        centred=True,
        epsilon=core.ln_f.eps,
    )


def bart(model: PreTrainedModel, core: nn.Module) -> Decoder:
    """Describe BART and similar models, with cross-attention to the encoder if there is one.

    Norms come last in BART and Marian; in mBART, Pegasus and M2M-100 they come first, and one follows all layers.
    """
    decoder = core.decoder
    last_norm = getattr(decoder, "layer_norm", getattr(decoder, "final_layer_norm", None))
    bias = getattr(model, "final_logits_bias", None)

    layers = []
    for block in decoder.layers:
        _check_activation(model, block.fc1, block.activation_fn)
        own, cross = _of_three_maps(block.self_attn, block.self_attn_layer_norm), None
        if hasattr(block, "encoder_attn"):
            cross = _of_three_maps(block.encoder_attn, block.encoder_attn_layer_norm)
        maps = block.fc1, block.fc2
        layers.append(Layer(own, block.final_layer_norm, *maps, cross_attention=cross))
    return Decoder(
        embedding=decoder.embed_tokens,
        embedding_factor=getattr(decoder, "embed_scale", 1.0),
        positions=_table(decoder.embed_positions),
        embedding_norm=getattr(decoder, "layernorm_embedding", None),
        layers=layers,
        last_norm=last_norm,
        output=model.lm_head,
        output_bias=None if bias is None else bias.flatten(),
        norm_first=last_norm is not None,
        centred=True,
        epsilon=decoder.layers[0].final_layer_norm.eps,
    )


def opt(model: PreTrainedModel, core: nn.Module) -> Decoder:
    """Describe OPT like BART; the one of 350 million parameters, whose norms come last, is not supported."""
    decoder = core.decoder
    if not decoder.config.do_layer_norm_before or decoder.project_in is not None:
        raise _unknown(model, "its norms come last, or its embeddings have another width")
    if not decoder.config.layer_norm_elementwise_affine:
        raise _unknown(model, "its norms have no weights")
    return replace(bart(model, core), norm_first=True)


def t5(model: PreTrainedModel, core: nn.Module) -> Decoder:
    """Describe T5 1.0 and 1.1, and mT5: RMSNorm, scores by distances, and a gate in 1.1."""
    decoder, config = core.decoder, model.config
    scaled = config.model_type == "t5" and config.scale_decoder_outputs  # never in mT5
    first = decoder.block[0].get_submodule(OWN)
    tokens = config.relative_attention_max_distance + 1
    table = first.compute_bias(1, tokens, past_seen_tokens=tokens - 1)[0, :, 0]  # (heads, tokens)

    def attention(block: nn.Module, norm: nn.Module, distances: Tensor | None) -> Attention:
        size = block.key_value_proj_dim
        maps = [block.q, block.k, block.v]
        return Attention(norm, maps, block.o, block.n_heads, size, block.scaling, distances)

    layers = []
    for block in decoder.block:
        own, cross, feed_forward = block.layer
        kept = own.SelfAttention
        chosen = table[kept.kept_heads] if isinstance(kept, CutAttention) else table
        dense = feed_forward.DenseReluDense
        gate = getattr(dense, "wi_1", None)
        inner = dense.wi if gate is None else dense.wi_0
        _check_activation(model, inner, dense.act)
        layers.append(
            Layer(
                attention(kept, own.layer_norm, chosen),
                feed_forward.layer_norm,
                inner,
                dense.wo,
                gate,
                attention(cross.EncDecAttention, cross.layer_norm, None),
            )
        )
    return Decoder(
        embedding=decoder.embed_tokens,
        layers=layers,
        last_norm=decoder.final_layer_norm,
        output=model.lm_head,
        output_factor=config.d_model**-0.5 if scaled else 1.0,
        norm_first=True,
        centred=False,
        epsilon=decoder.final_layer_norm.variance_epsilon,
    )


def llama(model: PreTrainedModel, core: nn.Module) -> Decoder:
    """Describe Llama, Mistral, Qwen2 and Qwen3: rotary positions, grouped attention, gated feed-forward."""
    rotary = core.rotary_emb
    if rotary.rope_type in CHANGING:
        raise _unknown(
            model, f"its rotary positions ({rotary.rope_type}) change with a text's length"
        )
    layers = []
    for block in core.layers:
        attention, maps = block.self_attn, block.mlp
        size, keys = attention.head_dim, attention.k_proj
        heads = keys.coded.shape[0] // size if isinstance(keys, Int8Linear) else 0
        if len(rotary.inv_freq) * 2 != size:
            raise _unknown(model, "its rotary positions are of some of a head's numbers")
        own = Attention(
            block.input_layernorm,
            [attention.q_proj, keys, attention.v_proj],
            attention.o_proj,
            heads * attention.num_key_value_groups,
            size,
            attention.scaling,
            group=attention.num_key_value_groups,
            query_norm=getattr(attention, "q_norm", None),
            key_norm=getattr(attention, "k_norm", None),
            window=_window(model, core, attention),
        )
        _check_activation(model, maps.gate_proj, maps.act_fn)
        norm = block.post_attention_layernorm
        layers.append(Layer(own, norm, maps.gate_proj, maps.down_proj, maps.up_proj))
    return Decoder(
        embedding=core.embed_tokens,
        layers=layers,
        last_norm=core.norm,
        output=model.lm_head,
        norm_first=True,
        centred=False,
        epsilon=core.norm.variance_epsilon,
        frequencies=rotary.inv_freq,
        rotary_factor=rotary.attention_scaling,
    )


def _window(model: PreTrainedModel, core: nn.Module, attention: nn.Module) -> int | None:
    """Return the largest number of tokens that an attention's queries see; None: all."""
    if hasattr(attention, "layer_type"):  # each layer of Qwen has its own
        return attention.sliding_window
    window = getattr(core.config, "sliding_window", None)
    if window is not None and not isinstance(core, MistralModel):
        raise _unknown(model, "its layers ignore the sliding_window of its configuration")
    return window


DESCRIPTIONS: dict[str, Callable[[PreTrainedModel, nn.Module], Decoder]] = {
    "GPT2Model": gpt2,
    "BartModel": bart,
    "MarianModel": bart,
    "MBartModel": bart,
    "M2M100Model": bart,
    "PegasusModel": bart,
    "OPTModel": opt,
    "T5ForConditionalGeneration": t5,
    "MT5ForConditionalGeneration": t5,
    "LlamaModel": llama,
    "MistralModel": llama,
    "Qwen2Model": llama,
    "Qwen3Model": llama,
}
CHANGING = ("dynamic", "longrope")  # rotary positions whose angles depend on the text's length


def _of_three_maps(block: nn.Module, norm: nn.Module) -> Attention:
    """Describe attention whose query, key and value are maps of their own, as in BART and OPT."""
    maps = [block.q_proj, block.k_proj, block.v_proj]
    return Attention(norm, maps, block.out_proj, block.num_heads, block.head_dim, block.scaling)


def _table(positions: nn.Module) -> Tensor:
    """Return the table of a text's positions in order, float32 (largest number of tokens, width)."""
    if isinstance(positions, M2M100SinusoidalPositionalEmbedding):
        return positions.weights[positions.padding_idx + 1 :]
    first = getattr(positions, "offset", 0)
    if not isinstance(positions, Int8Embedding):
        return positions.weight[first:]
    return positions.coded.rows(torch.arange(first, positions.coded.shape[0]))


def _check_activation(model: PreTrainedModel, inner: nn.Module, left: nn.Module) -> None:
    if isinstance(inner, Int8Linear) and not isinstance(left, nn.Identity):
        raise _unknown(model, f"its activation is {type(left).__name__}")


def _unknown(model: PreTrainedModel, reason: str) -> InputError:
    name = type(model).__name__
    return InputError(f"{name}: the compiled decoder cannot run it ({reason}); use its `generate`")
