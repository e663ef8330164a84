"""Shapes of the same width and depth for a model of each family, for `weebill benchmark families`."""

from collections.abc import Mapping
from typing import Any

LAYERS, WIDTH, HEADS, NEURONS, PIECES = 4, 512, 8, 2048, 8000

_ENDS = {"pad_token_id": 1, "eos_token_id": 2}
_BART = {
    **_ENDS,
    "d_model": WIDTH,
    "decoder_start_token_id": 2,
    "forced_eos_token_id": None,
    **{
        f"{side}_{part}": value
        for side in ("encoder", "decoder")
        for part, value in {"layers": LAYERS, "attention_heads": HEADS, "ffn_dim": NEURONS}.items()
    },
}
_T5 = {
    **_ENDS,
    "d_model": WIDTH,
    "d_kv": WIDTH // HEADS,
    "d_ff": NEURONS,
    "num_layers": LAYERS,
    "num_heads": HEADS,
    "decoder_start_token_id": 1,
}
_GPT2 = {**_ENDS, "n_embd": WIDTH, "n_layer": LAYERS, "n_head": HEADS, "bos_token_id": 0}
_SIZES = {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS}
_NEOX = {**_ENDS, **_SIZES}
_OPT = {**_NEOX, "word_embed_proj_dim": WIDTH, "ffn_dim": NEURONS}
_GROUPED = {"head_dim": WIDTH // HEADS, "num_key_value_heads": HEADS // 2}
_LLAMA = {**_NEOX, **_GROUPED, "intermediate_size": NEURONS}
_SEQ2SEQ, _CAUSAL = "ForConditionalGeneration", "ForCausalLM"
# Name of the classes in the library, their suffix, and the shape; the last two belong to no family.
SHAPES: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "bart": ("Bart", _SEQ2SEQ, _BART),
    "mbart": ("MBart", _SEQ2SEQ, _BART),
    "m2m-100": ("M2M100", _SEQ2SEQ, _BART),
    "pegasus": ("Pegasus", _SEQ2SEQ, _BART),
    "marian": ("Marian", "MTModel", _BART),
    "t5": ("T5", _SEQ2SEQ, _T5),
    "mt5": ("MT5", _SEQ2SEQ, {**_T5, "feed_forward_proj": "gated-gelu"}),
    "gpt2": ("GPT2", "LMHeadModel", _GPT2),
    "opt": ("OPT", _CAUSAL, _OPT),
    "llama": ("Llama", _CAUSAL, _LLAMA),
    "mistral": ("Mistral", _CAUSAL, _LLAMA),
    "qwen2": ("Qwen2", _CAUSAL, _LLAMA),
    "qwen3": ("Qwen3", _CAUSAL, _LLAMA),
    "blenderbot": ("Blenderbot", _SEQ2SEQ, _BART),
    "gpt-neox": ("GPTNeoX", _CAUSAL, _NEOX),
}
FAMILIES = tuple(SHAPES)[:-2]
