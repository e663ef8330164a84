"""Small models in the shape of BART and GPT-2, made from scratch: tokenizer, weights, pre-training on local text."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import nn
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from weebill.errors import InputError
from weebill.files import remove_folder
from weebill.generation.data import data_hash, read_part
from weebill.generation.denoising import Noise
from weebill.generation.encoding import Batches, Encoder, noisy, validation_batches
from weebill.generation.models import save_generator
from weebill.generation.settings import PACKAGES, Device, TrainingSettings
from weebill.generation.tokenizer import BART_TOKENS, GPT2_TOKENS, train_tokenizer
from weebill.generation.training import train
from weebill.hugging_face.folder import folder_kind
from weebill.model_lineage import lineage
from weebill.replaceable import check_replaceable
from weebill.workflow.code_version import code_of_module

SPECIAL = {"bart": BART_TOKENS, "gpt2": GPT2_TOKENS}


@dataclass(frozen=True)
class Shape:
    """Shape of a model.

    layers: number of layers in encoder and decoder each, or in the only decoder.  vocabulary: largest number of
    pieces.  positions: length of the longest text.
    """

    architecture: Literal["bart", "gpt2"]
    layers: int = 4
    width: int = 128
    heads: int = 4
    feed_forward: int = 512
    positions: int = 256
    vocabulary: int = 4000
    dropout: float = 0.1

    def __post_init__(self) -> None:
        if self.architecture not in SPECIAL:
            raise InputError(f"architecture '{self.architecture}': expected one of bart, gpt2")
        if self.width % self.heads:
            raise InputError(f"width {self.width} cannot be divided among {self.heads} heads")


@dataclass(frozen=True)
class Making:
    """Settings of a model made from scratch: shape and pre-training, denoising for BART, causal for GPT-2.

    passage: tokens of a pre-training text; None: all positions.  With short texts, BART learns to copy much sooner.
    """

    shape: Shape
    training: TrainingSettings = field(default_factory=lambda: TrainingSettings(epochs=10))
    passage: int | None = None


def new_model(shape: Shape, tokenizer: PreTrainedTokenizerBase, seed: int) -> PreTrainedModel:
    """Make a model whose weights depend only on its shape, its vocabulary's size and the seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return (_bart if shape.architecture == "bart" else _gpt2)(shape, tokenizer).eval()


def make_model(
    output: Path, data: Sequence[Path], making: Making, *, seed: int, device: Device
) -> None:
    """Train a tokenizer on the training text of some imported folders, pre-train a model on it, and save both.

    Unfinished training is kept in `OUTPUT.work`; the next call continues it.
    """
    shape, settings = making.shape, making.training
    texts, held_out = (
        [text for folder in data for row in read_part(folder, part) for text in row.values()]
        for part in ("train", "validation")
    )
    special = SPECIAL[shape.architecture]
    tokenizer = train_tokenizer(texts, shape.vocabulary, special, shape.positions)
    model = new_model(shape, tokenizer, seed)
    check_replaceable(output, folder_kind(tokenizer))
    longest = making.passage or shape.positions
    encoder = Encoder(model, tokenizer, longest, longest)
    if encoder.pairs:
        examples = encoder.passages(texts)
        draw = np.random.default_rng(seed)  # the same noise at every validation
        validation = noisy(encoder.passages(held_out), Noise.of(tokenizer), draw)
    else:
        examples, validation = map(encoder.running_text, (texts, held_out))
    batches = Batches(encoder, examples, settings, seed, denoise=encoder.pairs)
    work = output.with_name(f"{output.name}.work")
    course = train(
        model,
        batches,
        validation_batches(encoder, validation, settings.batch_size),
        settings,
        seed=seed,
        work=work,
        identity={
            "shape": asdict(shape),
            "passage": making.passage,
            "data": list(map(data_hash, data)),
            "code": code_of_module(__name__),
        },
        device=device,
    )
    made = lineage(
        "pre-trained",
        settings,
        seed,
        course,
        PACKAGES,
        shape=asdict(shape),
        passage=making.passage,
    )
    save_generator(output, model, tokenizer, made)
    remove_folder(work)


def _bart(shape: Shape, tokenizer: PreTrainedTokenizerBase) -> PreTrainedModel:
    sides = {
        f"{side}_{name}": value
        for side in ("encoder", "decoder")
        for name, value in (
            ("layers", shape.layers),
            ("attention_heads", shape.heads),
            ("ffn_dim", shape.feed_forward),
        )
    }
    config = BartConfig(
        vocab_size=len(tokenizer),
        d_model=shape.width,
        max_position_embeddings=shape.positions,
        dropout=shape.dropout,
        bos_token_id=tokenizer.bos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        decoder_start_token_id=tokenizer.eos_token_id,  # as BART's
        forced_eos_token_id=None,
        **sides,
    )
    model = BartForConditionalGeneration(config)
    # The library's deviation of 0.02 suits widths about 1000: with it, a narrow model's attention stays flat and
    # does not learn to copy.  These deviations depend on the widths (Glorot and Bengio 2010).
    for module in model.modules():
        if isinstance(module, nn.Linear) and module is not model.lm_head:  # tied to the embeddings
            nn.init.xavier_uniform_(module.weight)
    return model


def _gpt2(shape: Shape, tokenizer: PreTrainedTokenizerBase) -> PreTrainedModel:
    end = tokenizer.eos_token_id
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_embd=shape.width,
        n_layer=shape.layers,
        n_head=shape.heads,
        n_inner=shape.feed_forward,
        n_positions=shape.positions,
        resid_pdrop=shape.dropout,
        embd_pdrop=shape.dropout,
        attn_pdrop=shape.dropout,
        bos_token_id=end,
        eos_token_id=end,
        pad_token_id=end,
    )
    return GPT2LMHeadModel(config)
