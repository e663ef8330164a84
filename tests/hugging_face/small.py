"""Small random models of each family, and text for them."""

import copy
import functools
from functools import partial

import torch
import transformers
from torch import Tensor
from transformers import PreTrainedModel

from weebill.hugging_face.folder import tie

WIDTH, HEADS, HEAD_SIZE, NEURONS, PIECES = 24, 4, 6, 20, 40
PAD = 1


def of_library(name: str, kind: str, **values) -> PreTrainedModel:
    """Make a model of the library's class NAMEKIND with random weights."""
    config = getattr(transformers, f"{name}Config")(**{"vocab_size": PIECES, **values})
    return getattr(transformers, f"{name}{kind}")(config)


def xlm_roberta() -> PreTrainedModel:
    """Make a regression model with an encoder of three layers."""
    return of_library(
        "XLMRoberta",
        "ForSequenceClassification",
        hidden_size=WIDTH,
        num_attention_heads=HEADS,
        intermediate_size=NEURONS,
        num_hidden_layers=3,
        max_position_embeddings=32,
        num_labels=1,
        problem_type="regression",
    )


def bart_like(name: str, **more) -> PreTrainedModel:
    """Make a model with BART's configuration: two encoder and three decoder layers, which code must not confuse."""
    return of_library(
        name,
        "MTModel" if name == "Marian" else "ForConditionalGeneration",
        d_model=WIDTH,
        encoder_layers=2,
        decoder_layers=3,
        encoder_attention_heads=HEADS,
        decoder_attention_heads=HEADS,
        encoder_ffn_dim=NEURONS,
        decoder_ffn_dim=NEURONS,
        max_position_embeddings=32,
        pad_token_id=PAD,
        eos_token_id=2,
        decoder_start_token_id=2,
        forced_eos_token_id=None,
        **more,
    )


def gpt2() -> PreTrainedModel:
    """Make a decoder of three layers."""
    return of_library(
        "GPT2",
        "LMHeadModel",
        n_embd=WIDTH,
        n_head=HEADS,
        n_inner=NEURONS,
        n_layer=3,
        n_positions=32,
        bos_token_id=0,
        eos_token_id=2,
        pad_token_id=PAD,
    )


def t5(feed_forward: str = "relu", own_head: bool = False, name: str = "T5") -> PreTrainedModel:
    """Make a T5 of three encoder and two decoder layers: the library's cache has one place per encoder layer.

    feed_forward: value of `feed_forward_proj`.  own_head: True for separate weights of the head.  name: beginning of
    the library's class names.
    """
    model = of_library(
        name,
        "ForConditionalGeneration",
        d_model=WIDTH,
        d_kv=HEAD_SIZE,
        d_ff=NEURONS,
        num_layers=3,
        num_decoder_layers=2,
        num_heads=HEADS,
        relative_attention_num_buckets=8,
        relative_attention_max_distance=16,
        feed_forward_proj=feed_forward,
        pad_token_id=PAD,
        eos_token_id=2,
        decoder_start_token_id=PAD,
        tie_word_embeddings=not own_head,
    )
    if own_head:  # the library ties new heads, and unties those of checkpoints
        tie(model, {"shared.weight", "lm_head.weight"})
        torch.nn.init.normal_(model.lm_head.weight, std=WIDTH**-0.5)
    return model


def gated_t5() -> PreTrainedModel:
    """Make a T5 1.1."""
    return t5("gated-gelu", own_head=True)


MAKERS = {
    "xlm-roberta": xlm_roberta,
    "bart": partial(bart_like, "Bart"),
    "gpt2": gpt2,
    "t5": t5,
    "gated-t5": gated_t5,
}
GENERATORS = ("bart", "gpt2", "t5", "gated-t5")


def mt5() -> PreTrainedModel:
    """Make an mT5, which has T5 1.1's shape but its own classes."""
    return t5("gated-gelu", own_head=True, name="MT5")


def opt(embedding: int = 16, norm_first: bool = False) -> PreTrainedModel:
    """Make a decoder of three layers; by default, embeddings are narrower than the model, as in OPT-350M."""
    return of_library(
        "OPT",
        "ForCausalLM",
        hidden_size=WIDTH,
        word_embed_proj_dim=embedding,
        do_layer_norm_before=norm_first,
        num_attention_heads=HEADS,
        ffn_dim=NEURONS,
        num_hidden_layers=3,
        max_position_embeddings=32,
        bos_token_id=2,
        eos_token_id=2,
        pad_token_id=PAD,
    )


def grouped(name: str, **more) -> PreTrainedModel:
    """Make a decoder of three layers like Llama: four groups of two query heads that share a key and a value."""
    return of_library(
        name,
        "ForCausalLM",
        hidden_size=WIDTH,
        head_dim=HEAD_SIZE,
        num_attention_heads=2 * HEADS,
        num_key_value_heads=HEADS,
        intermediate_size=NEURONS,
        num_hidden_layers=3,
        max_position_embeddings=32,
        bos_token_id=0,
        eos_token_id=2,
        pad_token_id=PAD,
        **more,
    )


MORE = {  # tested less, because their code nearly equals another family's
    "mbart": partial(bart_like, "MBart"),
    "m2m_100": partial(bart_like, "M2M100", scale_embedding=True, init_std=0.1),
    "pegasus": partial(bart_like, "Pegasus"),
    "marian": partial(bart_like, "Marian", scale_embedding=True),
    "mt5": mt5,
    "opt": opt,
    "wide-opt": partial(opt, WIDTH, norm_first=True),
    "llama": partial(grouped, "Llama"),
    "mistral": partial(grouped, "Mistral", sliding_window=5),
    "qwen2": partial(grouped, "Qwen2", tie_word_embeddings=True),
    "qwen3": partial(
        grouped, "Qwen3", use_sliding_window=True, sliding_window=6, max_window_layers=1
    ),
}
DECODERS = ("gpt2", "opt", "wide-opt", "llama", "mistral", "qwen2", "qwen3")
DEPTHS = {  # layers of each stack
    "xlm-roberta": {"encoder": 3},
    "bart": {"encoder": 2, "decoder": 3},
    "gpt2": {"decoder": 3},
    "t5": {"encoder": 3, "decoder": 2},
    "gated-t5": {"encoder": 3, "decoder": 2},
}


def foreign() -> PreTrainedModel:
    """Make a model of no supported family."""
    layer = {"num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    return of_library("Electra", "Model", vocab_size=9, embedding_size=8, hidden_size=8, **layer)


def small_model(family: str, seed: int = 3) -> PreTrainedModel:
    """Return a model in evaluation mode; its biases and norms differ from a new model's."""
    model = copy.deepcopy(_made(family, seed))  # faster than making it anew
    torch.manual_seed(seed)
    return model


@functools.cache
def _made(family: str, seed: int) -> PreTrainedModel:
    torch.manual_seed(seed)
    model = (MAKERS | MORE)[family]().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:  # no computed positions
                parameter.add_(torch.randn_like(parameter) * 0.2)
    return model


def small_batch(family: str, seed: int = 5, rows: int = 3, positions: int = 9) -> dict[str, Tensor]:
    """Return arguments of the model's forward pass, with labels; rows have random lengths and padding."""
    generator = torch.Generator().manual_seed(seed)

    def text(positions: int) -> tuple[Tensor, Tensor]:
        tokens = torch.randint(3, PIECES, (rows, positions), generator=generator)
        lengths = torch.randint(2, positions + 1, (rows,), generator=generator)
        mask = torch.arange(positions)[None, :] < lengths[:, None]
        return tokens.where(mask, PAD), mask.long()

    source, mask = text(positions)
    batch = {"input_ids": source, "attention_mask": mask}
    if family == "xlm-roberta":
        labels = torch.randn(rows, generator=generator)
    elif family in DECODERS:
        labels = source.where(mask.bool(), -100)
    else:
        target, target_mask = text(positions - 2)
        labels = target.where(target_mask.bool(), -100)
        batch["decoder_attention_mask"] = target_mask
    return {**batch, "labels": labels}


def logits(model: PreTrainedModel, batch: dict[str, Tensor]) -> Tensor:
    """Return the model's logits at its real positions."""
    with torch.inference_mode():
        values = model(**batch).logits
    mask = batch.get("decoder_attention_mask", batch["attention_mask"])
    return values[mask.bool()] if values.dim() == 3 else values
