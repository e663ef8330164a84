"""Text-generating models, encoder-decoders and decoders, as folders in transformers' format with tokenizers."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from weebill.errors import InputError
from weebill.files import read_json, sha256_files
from weebill.generation.data import Task
from weebill.generation.int8 import load_int8
from weebill.hugging_face.families import model_types
from weebill.hugging_face.folder import load_model, save_model, save_whole_model
from weebill.hugging_face.loading import (
    is_int8,
    pretrained_model,
    pretrained_tokenizer,
    refuse_code,
)
from weebill.kernels.int8_layers import Int8Linear

LINEAGE = "lineage"  # entry of config.json
_CUT = model_types()  # types that can be cut


@dataclass(frozen=True)
class Generator:
    """Model that generates text, in evaluation mode, with its tokenizer."""

    path: Path
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase

    @property
    def pairs(self) -> bool:
        """True if the model reads one text and writes another."""
        return bool(self.model.config.is_encoder_decoder)

    @property
    def trainable(self) -> bool:
        """True if training can change its weights; int8 weights cannot."""
        return not any(isinstance(module, Int8Linear) for module in self.model.modules())

    @property
    def positions(self) -> int | None:
        """Length of the longest text in tokens; None if positions are relative."""
        return getattr(self.model.config, "max_position_embeddings", None)

    def check(self, task: Task, longest: Mapping[str, int]) -> None:
        """Raise InputError if the model cannot do a task, or has too few positions.

        longest: lengths in tokens, by the name of the setting.
        """
        wanted = task == "summarization"
        if self.pairs != wanted:
            kinds = {True: "an encoder-decoder", False: "a decoder alone"}
            raise InputError(
                f"{self.path}: {type(self.model).__name__} is {kinds[self.pairs]}; {task} needs "
                f"{kinds[wanted]}, name another model"
            )
        config = self.model.config
        if config.model_type == "t5" and config.num_decoder_layers > config.num_layers:
            raise InputError(
                f"{self.path}: a T5 with {config.num_decoder_layers} layers above an encoder of "
                f"{config.num_layers}: the library's key-value cache has no room for more; name another model"
            )
        for name, tokens in longest.items():
            if self.positions is not None and tokens > self.positions:
                raise InputError(
                    f"{name}: {tokens:,} tokens, but {self.path} has {self.positions:,} positions; "
                    "lower it"
                )


def load_generator(path: str | Path) -> Generator:
    """Read a folder of `save_generator`, of `int8.save_int8`, or of the library's own `save_pretrained`.

    Weights become float32, except those of int8.  Only safetensors are read, because pickles execute code.  Raises
    InputError if the folder is missing or damaged, brings code, or holds no model that generates text.
    """
    path = Path(path)
    if not (path / "config.json").is_file():
        raise InputError(f"{path}: not a model folder (no config.json); name one with a model")
    refuse_code(path)
    config = read_json(path / "config.json")
    if is_int8(config):
        model = load_int8(path)
    elif config.get("model_type") in _CUT:
        model = load_model(path)
        if not model.can_generate():
            raise InputError(
                f"{path}: {type(model).__name__} generates no text; name a model that does"
            )
    else:
        model = _load_other(path, config)
    return Generator(path, model, load_tokenizer(path))


def save_generator(
    path: str | Path,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    lineage: Mapping[str, Any],
) -> None:
    """Write a model, whole or cut, as a folder, atomically; equal models make equal bytes.

    lineage: plain values.
    """
    save = save_model if model.config.model_type in _CUT else save_whole_model
    save(path, model, tokenizer, {LINEAGE: dict(lineage)})


def model_hash(path: str | Path) -> str:
    """Return the SHA-256 of a model's weights, for measurements: of its file, or of several files' digests."""
    files = sorted(Path(path).glob("*.safetensors"))
    if not files:
        raise InputError(f"{path}: no *.safetensors file; is this a model folder?")
    return sha256_files(files)


def _load_other(path: Path, config: Mapping[str, Any]) -> PreTrainedModel:
    """Load a model of a family that cannot be cut."""
    kind = AutoModelForSeq2SeqLM if config.get("is_encoder_decoder") else AutoModelForCausalLM
    try:
        model, _ = pretrained_model(kind, path, dtype=torch.float32)
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        first = str(error).strip().splitlines()[0]
        raise InputError(
            f"{path}: no model that generates text, in safetensors ({first}); name another, or "
            "save it again by save_pretrained"
        ) from error
    return model.eval()


def load_tokenizer(path: str | Path) -> PreTrainedTokenizerBase:
    """Load a folder's tokenizer.  Raises InputError if it cannot be read, or has no end of text."""
    try:
        tokenizer = pretrained_tokenizer(path)
    except (OSError, ValueError, KeyError) as error:
        first = str(error).strip().splitlines()[0]
        raise InputError(
            f"{path}: its tokenizer cannot be read ({first}); save it beside the model"
        ) from error
    if tokenizer.eos_token_id is None:
        raise InputError(f"{path}: its tokenizer has no end of text (eos_token); name one")
    return tokenizer
