"""Vocabulary pruning: model and tokenizer keep the pieces that given text uses, and those that spell them.

TEXTGEN §4.4.  The kept pieces are those of the text, special and other added tokens, the pieces of single bytes, or
of single letters, so that any text can still be written, and the parts that merges join to kept pieces.  Text whose
pieces are kept is divided as before: byte-pair encoding applies the same merges in the same order, and the division
with the highest score of a unigram model is still possible.  Ratios of the probabilities of pieces do not change.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from contextlib import suppress
from functools import cache
from itertools import islice
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from weebill.errors import InputError
from weebill.files import write_json
from weebill.generation.piece_numbers import named_pieces, renumber_settings
from weebill.generation.prunable_vocabulary import (
    SINGLE,
    around,
    check_pieces,
    numbers_of,
    spelling,
    unknown,
    without_row,
)
from weebill.hugging_face.loading import pretrained_tokenizer
from weebill.hugging_face.tokenizer_description import renumber

LINES = 1000  # texts tokenized together


def prune_vocabulary(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, texts: Iterable[str]
) -> tuple[PreTrainedTokenizerFast, Tensor]:
    """Cut a float32 model in place to the pieces that texts use; return its new tokenizer and the kept old numbers.

    Pieces keep their order, so new number i was kept[i]; `kept` is ascending.
    Raises InputError, and leaves the model unchanged, if the tokenizer is neither BPE nor unigram, if `texts` is one
    string or a path, if text, model or tokenizer need a piece without a row in the model, if the tables of the model
    differ in rows, or if one of its settings cannot be renumbered.
    """
    description = check_vocabulary(model, tokenizer)
    rows = model.get_input_embeddings().weight.shape[0]
    without = without_row(description, rows)
    tables = _tables(model)
    named = named_pieces(model) | {*tokenizer.all_special_ids} | _chat_tokens(tokenizer)
    used = {number for number in named if 0 <= number < rows}
    used.update(around(description.get("post_processor")))
    lines, read = _lines(texts), 0
    while some := list(islice(lines, LINES)):
        for tokens in tokenizer(some, verbose=False)["input_ids"]:
            read += 1
            for piece in without.keys() & set(tokens):
                raise InputError(
                    f"text {read}: has '{without[piece]}', piece {piece:,} of the tokenizer, but the model has "
                    f"{rows:,} rows; take it out of the text"
                )
            used.update(tokens)
    kept = _with_makings(description, used, without)
    new = {old: place for place, old in enumerate(kept)}
    renumbered = _renumbered(tokenizer, description, new, {*without.values()})
    _cut(model, tables, torch.tensor(kept), new)
    return renumbered, torch.tensor(kept)


def check_vocabulary(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> dict[str, Any]:
    """Return the tokenizer's tokenizer.json.  Raises InputError if its vocabulary cannot be pruned for any text."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    description = json.loads(backend.to_str()) if backend is not None else {}
    special = {key: str(piece) for key, piece in tokenizer.special_tokens_map.items()}
    rows = model.get_input_embeddings().weight.shape[0]
    for config in (model.config, model.generation_config):
        numbers = {key: getattr(config, key, None) for key in SINGLE}
        check_pieces(description, rows, special, numbers)
    return description


def _chat_tokens(tokenizer: PreTrainedTokenizerBase) -> set[int]:
    """Return the tokens that a tokenizer's chat template puts around messages; empty if it has none."""
    found: set[int] = set()
    for roles in (["user"], ["user", "assistant"], ["system", "user", "assistant"]):
        with suppress(Exception):  # a template may refuse some roles, by any error of its own
            turns = [{"role": role, "content": ""} for role in roles]
            found.update(tokenizer.apply_chat_template(turns, tokenize=True, return_dict=False))
    return found


def _lines(texts: Iterable[str]) -> Iterator[str]:
    """Yield the texts.  Raises InputError if they are one string or a path, or if one of them is not a string."""
    if isinstance(texts, str | bytes | PathLike):
        message = f"texts: found {str(texts)[:200]!r}, expected a list of texts, or an open file"
        raise InputError(message)
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise InputError(f"text {number}: found {text!r:.60}, expected a string")
        yield text


def _with_makings(
    description: dict[str, Any], used: set[int], without: Mapping[int, str]
) -> list[int]:
    """Return the numbers, ascending, of used pieces, pieces that spell, added tokens, and the parts of all these.

    Added tokens without a row in the model are left out.
    """
    vocabulary = numbers_of(description)
    name = {number: piece for piece, number in vocabulary.items()}
    makings: dict[str, list[str]] = {}  # all pairs that merges join to a piece, concatenated
    for left, right in description["model"].get("merges", ()):
        makings.setdefault(left + right, []).extend((left, right))
    waiting = [name[number] for number in used if number in name]
    waiting += spelling(description)
    waiting += {unknown(description)} & vocabulary.keys()
    seen: set[str] = set()
    while waiting:
        piece = waiting.pop()
        if piece not in seen:
            seen.add(piece)
            waiting += makings.get(piece, ())
    kept = used | {token["id"] for token in description["added_tokens"]}.difference(without)
    kept |= {vocabulary[piece] for piece in seen}
    for number in without.keys() & kept:
        raise InputError(
            f"the tokenizer makes used pieces of '{without[number]}', its piece {number:,}, which the model has no "
            "row for; leave the vocabulary as it is"
        )
    return sorted(kept)


def _renumbered(
    tokenizer: PreTrainedTokenizerBase,
    description: dict[str, Any],
    number: dict[int, int],
    gone: Collection[str],
) -> PreTrainedTokenizerFast:
    """Return the tokenizer with only the pieces of `number`, old → new number; no special token is in `gone`.

    A multilingual tokenizer keeps its class.  Raises InputError if the class makes another vocabulary of the pieces.
    """
    renumber(description, number)
    if hasattr(
        tokenizer, "src_lang"
    ):  # its class puts pieces of the current languages around texts
        with TemporaryDirectory() as folder:
            tokenizer.save_pretrained(folder)
            write_json(Path(folder) / "tokenizer.json", description)
            found = pretrained_tokenizer(folder, type(tokenizer))
        if found.get_vocab() != Tokenizer.from_str(json.dumps(description)).get_vocab():
            raise InputError(
                f"{type(tokenizer).__name__} makes other pieces of a pruned vocabulary; leave it as it is"
            )
        return found
    special = {}
    for role, pieces in tokenizer.special_tokens_map.items():
        if isinstance(pieces, list):  # a role may have several
            pieces = [piece for piece in pieces if str(piece) not in gone]
        if str(pieces) not in gone:
            special[role] = pieces
    if extra := [piece for piece in tokenizer.extra_special_tokens if str(piece) not in gone]:
        special["extra_special_tokens"] = extra
    kept = (
        "model_max_length",
        "padding_side",
        "truncation_side",
        "model_input_names",
        "clean_up_tokenization_spaces",
        "split_special_tokens",
        "chat_template",
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(description)),
        **{name: getattr(tokenizer, name) for name in kept},
        **special,
    )


def _tables(model: PreTrainedModel) -> Set[int]:
    """Return the identities of all weights with a row per piece: an encoder and a decoder may have their own.

    Raises InputError if they differ in rows.
    """
    parts = [part for part in model.modules() if isinstance(part, PreTrainedModel)]
    holders = [part.get_input_embeddings() for part in parts]
    holders += [part.get_output_embeddings() for part in parts]
    tables = {id(one.weight): len(one.weight) for one in holders if one is not None}
    if len(rows := {*tables.values()}) > 1:
        raise InputError(
            f"the model has tables of {' and '.join(f'{one:,}' for one in sorted(rows))} pieces; leave the "
            "vocabulary as it is"
        )
    return tables.keys()


def _cut(model: PreTrainedModel, tables: Set[int], kept: Tensor, number: dict[int, int]) -> None:
    """Keep some rows of every table with a row per piece, and renumber the pieces in the model's configurations."""

    @cache
    def cut(table: nn.Parameter) -> nn.Parameter:
        return nn.Parameter(table.detach()[kept].clone(), table.requires_grad)

    for module in model.modules():
        if isinstance(module, nn.Embedding | nn.Linear) and id(module.weight) in tables:
            module.weight = cut(module.weight)
            if isinstance(module, nn.Embedding):
                module.num_embeddings = len(kept)
            else:
                module.out_features = len(kept)
                module.bias = None if module.bias is None else cut(module.bias)
        if getattr(module, "padding_idx", None) is not None:
            module.padding_idx = number.get(module.padding_idx)
    if (bias := getattr(model, "final_logits_bias", None)) is not None:
        model.final_logits_bias = bias[:, kept].clone()
    renumber_settings(model, number)
    model.config.vocab_size = len(kept)
    if hasattr(model.config, "decoder_vocab_size"):
        model.config.decoder_vocab_size = len(kept)
