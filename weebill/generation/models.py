"""Text-generating models, encoder-decoders and decoders, as folders in transformers' format with tokenizers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES as PAIRS,
)

from weebill.errors import InputError, first_line
from weebill.files import parameter_files, sha256_files
from weebill.generation.compiled import CompiledGenerator
from weebill.generation.data import Task
from weebill.generation.encoding import Encoder
from weebill.generation.int8 import load_int8
from weebill.generation.search_options import unknown_options
from weebill.generation.settings import Device, SearchSettings
from weebill.hugging_face.families import model_types
from weebill.hugging_face.folder import load_model, save_model
from weebill.hugging_face.loading import (
    check_cache,
    is_int8,
    pretrained_model,
    pretrained_tokenizer,
    read_config,
)
from weebill.kernels.accelerator import REHEARSAL, device_of
from weebill.kernels.cuda import avoid_slow_attention
from weebill.kernels.int8_layers import Int8Linear
from weebill_runtime.lines import checked_lines

LINEAGE = "lineage"  # entry of config.json
GPU_PRECISION = "bfloat16"  # in which a GPU writes text
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

    @cached_property
    def _compiled(self) -> CompiledGenerator | None:
        """Compiled decoder of an int8 model; None if there is none."""
        try:
            return None if self.trainable else CompiledGenerator(self.model)
        except InputError:
            return None

    def generate(
        self, input_ids: Tensor, attention_mask: Tensor, settings: SearchSettings, **more: Any
    ) -> Tensor:
        """Return the tokens of the library's `generate`, from the compiled decoder if it has all of the options.

        more: options of `generate` that `settings` does not have.
        """
        options = settings.options(vars(self.model.generation_config)) | more
        fast = self._compiled is not None and not unknown_options(self.model, options)
        generate = self._compiled.generate if fast else self.model.generate
        return generate(input_ids, attention_mask=attention_mask, **options)

    def on(self, device: Device, precision: str = "float32") -> Self:
        """Move the model to a device, and return the generator; int8 models stay on the CPU, with float32 sums.

        precision: type of the weights on a GPU.  Raises InputError if there is no GPU.
        """
        if device.accelerator != "gpu" or not self.trainable:
            torch.set_num_threads(device.threads)
        if device.accelerator != "cpu" and self.trainable:
            avoid_slow_attention()
            self.model.to(device_of(device.accelerator), getattr(torch, precision))
        return self

    @property
    def positions(self) -> int | None:
        """Length of the longest text in tokens; None if positions are relative."""
        return getattr(self.model.config, "max_position_embeddings", None)

    def check(self, task: Task, longest: Mapping[str, int]) -> None:
        """Raise InputError if the model cannot do a task, or has too few positions; longest: lengths by setting."""
        wanted = task == "summarization"
        if self.pairs != wanted:
            kinds = {True: "an encoder-decoder", False: "a decoder alone"}
            raise InputError(
                f"{self.path}: {type(self.model).__name__} is {kinds[self.pairs]}; {task} needs "
                f"{kinds[wanted]}, name another model"
            )
        config = self.model.config
        if self.pairs and config.decoder_start_token_id is None:
            raise InputError(
                f"{self.path}/config.json: no decoder_start_token_id, which stands before each summary; set it, for "
                "mBART to the number of the language's piece"
            )
        check_cache(self.model, self.path)
        for name, tokens in longest.items():
            if self.positions is not None and tokens > self.positions:
                raise InputError(
                    f"{name}: {tokens:,} tokens, but {self.path} has {self.positions:,} positions; "
                    "lower it"
                )


def load_generator(path: str | Path) -> Generator:
    """Read a folder of `save_generator`, of `int8.save_int8`, or of the library's own `save_pretrained`.

    Weights become float32, except those of int8.  Only safetensors are read, because pickles execute code.  Raises
    InputError if the folder is missing or damaged, contains code, or has no model that generates text, or if the
    tokenizer of an encoder-decoder cannot pad.
    """
    path = Path(path)
    config = read_config(path, types=True)
    if is_int8(config):
        model = load_int8(path)
    elif config.get("model_type") in _CUT:
        model = load_model(path, generates=True)
        if not model.can_generate():
            message = f"{path}: {type(model).__name__} generates no text; name a model that does"
            raise InputError(message)
    else:
        pairs = config.get("is_encoder_decoder", config.get("model_type") in PAIRS)
        kind = AutoModelForSeq2SeqLM if pairs else AutoModelForCausalLM
        told = "no model that generates text, in safetensors"
        with _explained(path, told, "name another, or save it again by save_pretrained"):
            model, _ = pretrained_model(kind, path)
    generator = Generator(path, model.eval(), load_tokenizer(path))
    if generator.pairs and generator.tokenizer.pad_token_id is None:
        message = (
            f"{path}: its tokenizer has no padding (pad_token) to read texts together; name one"
        )
        raise InputError(message)
    return generator


def numbers_on(device: Device, path: str | Path) -> str:
    """Return a signature's note on the device of a model that writes: empty for CPUs, where int8 models stay."""
    on_cpu = device.accelerator == "cpu" or is_int8(read_config(Path(path), types=True))
    place = "rehearsed" if device.accelerator == REHEARSAL else "cuda"
    return "" if on_cpu else f"{place}:{GPU_PRECISION}"


def load_tokenizer(path: str | Path) -> PreTrainedTokenizerBase:
    """Load a folder's tokenizer.  Raises InputError if it cannot be read, or has no end of text."""
    with _explained(path, "its tokenizer cannot be read", "save it beside the model"):
        tokenizer = pretrained_tokenizer(path)
    if tokenizer.eos_token_id is None:
        raise InputError(f"{path}: its tokenizer has no end of text (eos_token); name one")
    return tokenizer


@contextmanager
def _explained(path: str | Path, told: str, remedy: str) -> Iterator[None]:
    """Turn the library's errors into InputErrors."""
    try:
        yield
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise InputError(f"{path}: {told} ({first_line(error)}); {remedy}") from error


def save_generator(
    path: str | Path,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    lineage: Mapping[str, Any],
) -> None:
    """Write a model, whole or cut, as a folder with a lineage, atomically; equal models make equal bytes."""
    whole = model.config.model_type not in _CUT
    save_model(path, model, tokenizer, {LINEAGE: dict(lineage)}, whole)


def model_hash(path: str | Path) -> str:
    """Return the SHA-256 of a model's weights, for measurements: of its file, or of the digests of several files."""
    return sha256_files(parameter_files(path))


@torch.inference_mode()
def summarize(
    generator: Generator,
    articles: Sequence[str],
    settings: SearchSettings,
    max_source: int,
    report: Callable[[int], None] = lambda done: None,
) -> list[str]:
    """Write a summary of each article, in their order, by the model's own search; line breaks are kept.

    max_source: tokens at which articles are cut.  report: called after each batch with the number of finished
    articles.  Raises InputError if the model is not an encoder-decoder, has fewer positions than the texts' token
    limits, or no row for a piece of an article, or if `articles` is one string.
    """
    longest = {"max_source": max_source, "search.max_tokens": settings.max_tokens}
    generator.check("summarization", longest)
    model, tokenizer = generator.model, generator.tokenizer
    articles = checked_lines("articles", articles)
    sources = Encoder(model, tokenizer, max_source, 0).tokens(articles, max_source)
    # Articles of a batch have similar lengths.
    order = sorted(range(len(articles)), key=lambda index: len(articles[index]))
    found = [""] * len(articles)
    for start in range(0, len(order), settings.batch_size):
        indices = order[start : start + settings.batch_size]
        inputs = tokenizer.pad(
            {"input_ids": [sources[index] for index in indices]},
            padding_side="right",  # an encoder counts positions from the left
            return_tensors="pt",
        ).to(next(model.parameters()).device)
        given = {key: inputs[key] for key in ("input_ids", "attention_mask")}
        tokens = generator.generate(**given, settings=settings)
        texts = tokenizer.batch_decode(tokens, skip_special_tokens=True)
        for index, text in zip(indices, texts, strict=True):
            found[index] = text.strip()
        report(start + len(indices))
    return found
