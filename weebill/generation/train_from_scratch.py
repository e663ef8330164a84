"""Small models in the shape of BART and GPT-2, made from scratch: tokenizer, weights, pre-training on local text."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from torch import nn
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)

from weebill.errors import InputError
from weebill.files import remove_folder
from weebill.generation.data import data_hash, read_part
from weebill.generation.encoding import Batches, Encoder, Noise
from weebill.generation.models import save_generator
from weebill.generation.settings import PACKAGES, Device, TrainingSettings
from weebill.generation.training import train
from weebill.hugging_face.folder import check_target
from weebill.model_lineage import lineage
from weebill.workflow.code_version import code_of_module

# The special tokens have BART's numbers; GPT-2 has only one special token.
BART_TOKENS = {
    "bos_token": "<s>",
    "pad_token": "<pad>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "mask_token": "<mask>",
}
GPT2_TOKENS = dict.fromkeys(("bos_token", "eos_token", "unk_token"), "<|endoftext|>")
SPECIAL = {"bart": BART_TOKENS, "gpt2": GPT2_TOKENS}


@dataclass(frozen=True)
class Shape:
    """Shape of a model; layers: of each stack; vocabulary: largest number of pieces; positions: longest text."""

    architecture: Literal["bart", "gpt2"]
    layers: int = 4
    width: int = 128
    heads: int = 4
    feed_forward: int = 512
    positions: int = 256
    vocabulary: int = 4000
    dropout: float = 0.1


def train_tokenizer(
    texts: Iterable[str], size: int, special: dict[str, str], positions: int
) -> PreTrainedTokenizerFast:
    """Train a byte-level BPE of at most `size` pieces, special ones first; equal text gives equal pieces.

    special: BART_TOKENS puts <s> and </s> around each text; GPT2_TOKENS puts nothing.  positions: the model's number.
    Raises InputError if `size` is too small for the bytes and the special tokens.
    """
    tokens, alphabet = list(dict.fromkeys(special.values())), pre_tokenizers.ByteLevel.alphabet()
    least = len(alphabet) + len(tokens)
    if size < least:
        message = f"vocabulary: {size} pieces, expected at least {least}: every byte and the special tokens"
        raise InputError(message)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=tokens,
        initial_alphabet=sorted(alphabet),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    first, last = special["bos_token"], special["eos_token"]
    if first != last:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{first} $A {last}",
            special_tokens=[(token, tokenizer.token_to_id(token)) for token in (first, last)],
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=positions,
        clean_up_tokenization_spaces=False,
        **special,
    )


def new_model(shape: Shape, tokenizer: PreTrainedTokenizerBase, seed: int) -> PreTrainedModel:
    """Make a model whose weights depend only on its shape, its vocabulary's size and the seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return (_bart if shape.architecture == "bart" else _gpt2)(shape, tokenizer).eval()


def _bart(shape: Shape, tokenizer: PreTrainedTokenizerBase) -> PreTrainedModel:
    sizes = {"layers": shape.layers, "attention_heads": shape.heads, "ffn_dim": shape.feed_forward}
    config = BartConfig(
        vocab_size=len(tokenizer),
        d_model=shape.width,
        max_position_embeddings=shape.positions,
        dropout=shape.dropout,
        bos_token_id=tokenizer.bos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        decoder_start_token_id=tokenizer.eos_token_id,  # as in BART
        forced_eos_token_id=None,
        **{f"encoder_{name}": size for name, size in sizes.items()},
        **{f"decoder_{name}": size for name, size in sizes.items()},
    )
    model = BartForConditionalGeneration(config)
    # The library's deviation of 0.02 suits widths near 1000: a narrow model's attention would stay flat and not
    # learn to copy.  These deviations depend on the widths (Glorot and Bengio 2010).
    for module in model.modules():
        if isinstance(module, nn.Linear) and module is not model.lm_head:  # tied to the embeddings
            nn.init.xavier_uniform_(module.weight)
    return model


def _gpt2(shape: Shape, tokenizer: PreTrainedTokenizerBase) -> PreTrainedModel:
    end = tokenizer.eos_token_id
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(tokenizer),
            n_embd=shape.width,
            n_layer=shape.layers,
            n_head=shape.heads,
            n_inner=shape.feed_forward,
            n_positions=shape.positions,
            **dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), shape.dropout),
            **dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id"), end),
        )
    )


def make_model(
    output: Path,
    data: Sequence[Path],
    shape: Shape,
    settings: TrainingSettings,
    passage: int | None = None,
    *,
    seed: int,
    device: Device,
) -> None:
    """Train a tokenizer on the training text of some imported folders, pre-train a model on it, and save both.

    The pre-training is denoising for BART, causal for GPT-2.  passage: tokens of a pre-training text; None: all
    positions.  With short texts, BART learns to copy much sooner.
    Unfinished training is kept in `OUTPUT.work` for the next call.
    """
    texts, held_out = (
        [text for folder in data for row in read_part(folder, part) for text in row.values()]
        for part in ("train", "validation")
    )
    special = SPECIAL[shape.architecture]
    tokenizer = train_tokenizer(texts, shape.vocabulary, special, shape.positions)
    model = new_model(shape, tokenizer, seed)
    check_target(output, model, tokenizer)
    longest = passage or shape.positions
    encoder = Encoder(model, tokenizer, longest, longest)
    noise = Noise.of(tokenizer) if shape.architecture == "bart" else None
    encode = encoder.running_text if noise is None else encoder.passages
    examples, validation = map(encode, (texts, held_out))
    if noise is not None:  # the same at every validation
        validation = noise.add(validation, np.random.default_rng(seed))
    work = output.with_name(f"{output.name}.work")
    made = {"shape": asdict(shape), "passage": passage}
    course = train(
        model,
        Batches(encoder, examples, settings, seed, noise),
        encoder.batches(validation, settings.batch_size),
        work=work,
        identity={**made, "data": list(map(data_hash, data)), "code": code_of_module(__name__)},
        device=device,
    )
    made = lineage("pre-trained", settings, seed, course, PACKAGES, **made)
    save_generator(output, model, tokenizer, made)
    remove_folder(work)
