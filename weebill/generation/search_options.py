"""Options of the search with compiled decoders: those of the library's `generate`, with the same meanings."""

import copy
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel
from transformers.generation import (
    ForcedBOSTokenLogitsProcessor,
    ForcedEOSTokenLogitsProcessor,
    LogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from weebill.errors import InputError, first_line

NEW = 20  # tokens that the library writes if no length is given
DEFAULTS = {
    "max_length": None,
    "max_new_tokens": None,
    "min_length": 0,
    "min_new_tokens": None,
    "num_beams": 1,
    "num_return_sequences": 1,
    "length_penalty": 1.0,
    "early_stopping": False,
    "no_repeat_ngram_size": 0,
    "suppress_tokens": None,
    "forced_bos_token_id": None,
    "forced_eos_token_id": None,
    "do_sample": False,
    "temperature": 1.0,
    "top_k": 50,
    "top_p": 1.0,
    "eos_token_id": None,
    "pad_token_id": None,
    "decoder_start_token_id": None,
    "bos_token_id": None,
}
# Least values of whole numbers.
LEAST = {
    "max_new_tokens": 1,
    "min_length": 0,
    "min_new_tokens": 0,
    "num_beams": 1,
    "num_return_sequences": 1,
    "no_repeat_ngram_size": 0,
    "top_k": 0,
}
# Values of other options that have no effect; None and False never have one.
NEUTRAL = {
    "use_cache": True,
    "repetition_penalty": 1.0,
    "encoder_repetition_penalty": 1.0,
    "encoder_no_repeat_ngram_size": 0,
    "typical_p": 1.0,
    "min_p": 0.0,
    "epsilon_cutoff": 0.0,
    "eta_cutoff": 0.0,
    "num_beam_groups": 1,
    "diversity_penalty": 0.0,
    "guidance_scale": 1.0,
}
# Options that never change a text, and options that only change draws.
SILENT = {"transformers_version", "disable_compile", "low_memory", "remove_invalid_values"}
OF_DRAWS = {"min_p", "typical_p", "top_h", "epsilon_cutoff", "eta_cutoff"}


@dataclass(frozen=True)
class SearchOptions:
    """Options of one call; lengths count the prompt, or the decoder's first token.

    returned: texts for each prompt.  ends: tokens that end a text, (n,).  pad: token after the end of a text that is
    shorter than others.  start: first token of an encoder-decoder's texts.  processors: changes of scores
    (rows, vocabulary) that depend on the tokens so far (rows, length), perhaps in place.  warpers: changes of scores
    before a draw.
    """

    max_length: int
    beams: int
    returned: int
    sample: bool
    length_penalty: float
    early_stopping: bool | str
    ends: Tensor
    pad: int
    start: int | None
    processors: tuple[LogitsProcessor, ...]
    warpers: tuple[LogitsProcessor, ...]


def search_options(model: PreTrainedModel, prompt: int, given: dict[str, Any]) -> SearchOptions:
    """Return the options of a call; the model's own replace those that are not given.

    prompt: tokens of the longest prompt.  Raises InputError for an option that the search does not have, or a wrong
    value.
    """
    if wrong := unknown_options(model, given):
        names = ", ".join(f"`{name}`" for name in wrong)
        own = [f"{name}=None" for name in wrong if name not in given]
        remedy = (
            f"give {', '.join(own)}, as the model's generation_config sets it"
            if own
            else "leave it out"
        )
        raise InputError(
            f"the compiled decoder has no {names}; {remedy}, or call the model's own `generate`"
        )
    config = copy.deepcopy(model.generation_config)
    vars(config).update(given)
    chosen = {
        name: default if getattr(config, name) is None else getattr(config, name)
        for name, default in DEFAULTS.items()
    }
    if "top_k" in given and given["top_k"] is None:  # the library then draws from all tokens
        chosen["top_k"] = 0
    for name, least in LEAST.items():
        value = chosen[name]
        if value is not None and not (isinstance(value, Integral) and value >= least):
            raise InputError(f"{name}: {value!r:.40}, expected a whole number, at least {least}")
    beams, returned, sample = (
        chosen[name] for name in ("num_beams", "num_return_sequences", "do_sample")
    )
    if sample and beams > 1:
        raise InputError("the compiled decoder draws no beams; give num_beams=1 or do_sample=False")
    if not sample and returned > beams:
        raise InputError(
            f"num_return_sequences: {returned} texts of {beams} beams; raise num_beams"
        )
    length = _max_length(model, chosen, prompt)
    if prompt >= length:
        raise InputError(f"max_length: {length}, but the prompt has {prompt} tokens; raise it")
    ends = chosen["eos_token_id"]
    ends = torch.tensor([] if ends is None else ends, dtype=torch.long).reshape(-1)
    pad, start = chosen["pad_token_id"], chosen["decoder_start_token_id"]
    if pad is None or pad < 0:  # some configurations use −1 for none
        pad = int(ends[0]) if len(ends) else -1
    start = chosen["bos_token_id"] if start is None else start
    if start is None and model.config.is_encoder_decoder:
        raise InputError(
            "the model has no decoder_start_token_id, the first token of a text; give it"
        )
    try:
        config.validate(user_set_attributes=set(given))
        processors = tuple(_processors(chosen, prompt, length, ends))
        warpers = tuple(_warpers(chosen)) if sample else ()
    except (TypeError, ValueError) as error:
        raise InputError(f"{first_line(error)}; correct this option of the search") from error
    return SearchOptions(
        max_length=length,
        beams=beams,
        returned=returned,
        sample=sample,
        length_penalty=chosen["length_penalty"],
        early_stopping=chosen["early_stopping"],
        ends=ends,
        pad=pad,
        start=start,
        processors=processors,
        warpers=warpers,
    )


def changed(scores: Tensor, tokens: Tensor, by: Iterable[LogitsProcessor]) -> Tensor:
    """Return scores (rows, vocabulary) after tokens (rows, length), changed by processors or warpers in turn."""
    for change in by:
        scores = change(tokens, scores)
    return scores


def unknown_options(model: PreTrainedModel, given: dict[str, Any]) -> list[str]:
    """Return the options of a call, or else of the model, that change the text and that the search does not have."""
    others = {**vars(model.generation_config), **given}
    one_for_all = set(DEFAULTS)
    if not isinstance(others["decoder_start_token_id"], int | None):  # one for each text
        one_for_all.remove("decoder_start_token_id")
    silent = SILENT if others.get("do_sample") else SILENT | OF_DRAWS
    return sorted(
        name
        for name in others.keys() - one_for_all - silent
        if not name.startswith("_") and _changes_text(name, others[name])
    )


def _changes_text(name: str, value: Any) -> bool:
    """Return True if an option has a value, which may be of any type, that may change the text."""
    simple = isinstance(value, bool | int | float | str)
    return not (value is None or value is False or (simple and value == NEUTRAL.get(name)))


def _max_length(model: PreTrainedModel, chosen: dict[str, Any], prompt: int) -> int:
    """Return the number of tokens at which a text ends."""
    if chosen["max_new_tokens"] is not None:
        return prompt + chosen["max_new_tokens"]
    if chosen["max_length"] is not None:
        return chosen["max_length"]
    return min(prompt + NEW, getattr(model.config, "max_position_embeddings", None) or prompt + NEW)


def _processors(
    chosen: dict[str, Any], prompt: int, length: int, ends: Tensor
) -> Iterator[LogitsProcessor]:
    """Yield the changes of scores in the library's order."""
    if size := chosen["no_repeat_ngram_size"]:
        yield NoRepeat(size)
    new = chosen["min_new_tokens"]  # replaces min_length
    if len(ends) and (least := chosen["min_length"] if new is None else prompt + new):
        yield Banned(ends, least)
    if (first := chosen["forced_bos_token_id"]) is not None:
        yield ForcedBOSTokenLogitsProcessor(first)
    if (last := chosen["forced_eos_token_id"]) is not None:
        yield ForcedEOSTokenLogitsProcessor(length, last)
    if (never := chosen["suppress_tokens"]) is not None:
        yield Banned(torch.as_tensor(list(never)))


def _warpers(chosen: dict[str, Any]) -> Iterator[LogitsProcessor]:
    """Yield the changes of scores before a draw, in the library's order."""
    if (temperature := chosen["temperature"]) != 1:
        yield TemperatureLogitsWarper(temperature)
    if kept := chosen["top_k"]:
        yield TopKLogitsWarper(kept)
    if (share := chosen["top_p"]) < 1:
        yield TopPLogitsWarper(share)


class Banned(LogitsProcessor):
    """Ban of some tokens while texts are shorter than `shorter`; the library's looks at all tokens each time."""

    def __init__(self, tokens: Tensor, shorter: float = math.inf):
        if len(tokens) and tokens.is_floating_point():
            raise TypeError(f"{tokens.tolist()!r:.40}: expected numbers of tokens")
        self.tokens, self.shorter = tokens.long(), shorter

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Set the scores (rows, vocabulary) of the tokens to −∞ in place; input_ids: (rows, length)."""
        if input_ids.shape[1] >= self.shorter:
            return scores
        known = (self.tokens >= 0) & (self.tokens < scores.shape[1])
        return scores.index_fill_(1, self.tokens[known], -torch.inf)


class NoRepeat(LogitsProcessor):
    """Ban of every token that would repeat a row's span of `size` tokens; the library's uses Python loops."""

    def __init__(self, size: int):
        self.size = size

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Return scores (rows, vocabulary) that are −∞ for such tokens; input_ids: (rows, length)."""
        if input_ids.shape[1] < self.size:
            return scores
        spans = input_ids.unfold(1, self.size, 1)  # (rows, spans, size)
        last = input_ids[:, input_ids.shape[1] - self.size + 1 :]
        row, span = (spans[..., :-1] == last[:, None]).all(2).nonzero(as_tuple=True)
        return scores.index_put((row, spans[row, span, -1]), scores.new_tensor(-torch.inf))
