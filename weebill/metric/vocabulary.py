"""Vocabulary of a metric, cut to the pieces of texts or languages; XLM-R-large's has 256 million parameters.

The cut keeps the pieces of the texts, the single characters of these pieces, special pieces, and the least likely
piece, whose score determines the cost of an unknown character in unigram models.  A line whose pieces are kept is
divided as before, since its best division is still there and none is added: its scores do not change.
"""

import json
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np
from tokenizers import Tokenizer
from torch import nn

from weebill.corpus.cleaning.letters import letters
from weebill.errors import InputError
from weebill.hugging_face.tokenizer_description import renumber
from weebill.metric.folder import Metric
from weebill.metric.network import is_stored
from weebill.metric.tokenizer import SentenceTokenizer
from weebill_runtime.characters import code_points, of_category

LINES = 1000  # lines divided at once
WORD_BEGIN = "▁"  # unigram's mark of a word's begin
CONTINUED = "##"  # WordPiece's mark of a piece inside a word
IDS = ("pad_token_id", "bos_token_id", "eos_token_id")  # keys of an encoder's configuration


def kept_pieces(
    metric: Metric, lines: Iterable[str] = (), languages: Sequence[str] = ()
) -> list[int]:
    """Return the pieces, ascending, that lines and the languages' scripts need; the metric stays as it is.

    Raises InputError if neither is given, a language is unknown, the weights are int8, or the tokenizer is neither
    unigram nor WordPiece.
    """
    if is_stored(metric.network):
        raise InputError(
            f"{metric.name}: its weights are int8; cut the float32 metric, then convert"
        )
    description = json.loads(metric.tokenizer.description())
    model = description["model"]
    if model["type"] not in ("Unigram", "WordPiece"):
        raise InputError(
            f"{metric.name}: its tokenizer is {model['type']}; only Unigram and WordPiece can be cut"
        )
    names, padding = _names(model), metric.network.encoder.config.pad_token_id
    special = {one["id"] for one in description["added_tokens"]}
    kept, given, rest = set(), bool(languages), iter(lines)
    while some := list(islice(rest, LINES)):
        given = True
        for pieces in metric.tokenizer.encode_whole(some):
            kept.update(pieces)
    if not given:
        raise InputError("no text and no language to keep the vocabulary of; give one")
    if languages:
        kept |= _in_scripts(names, languages)
    known = {character for number in kept - special for character in names[number]}
    kept |= {number for number, name in enumerate(names) if _bare(name) in known} | special
    if padding is not None:
        kept.add(padding)
    if model["type"] == "Unigram":
        scores = [
            np.inf if number in special else score
            for number, (_, score) in enumerate(model["vocab"])
        ]
        kept.add(int(np.argmin(scores)))
        unknown = model.get("unk_id")
    else:
        unknown = model["vocab"].get(model["unk_token"])
    if unknown is not None:
        kept.add(unknown)
    return sorted(kept)


def cut_vocabulary(metric: Metric, kept: list[int]) -> Metric:
    """Return the metric with only the pieces of `kept_pieces`; its network is cut in place."""
    new = {old: number for number, old in enumerate(kept)}
    description = json.loads(metric.tokenizer.description())
    renumber(description, new)
    tokenizer = SentenceTokenizer.of(Tokenizer.from_str(json.dumps(description)))
    _cut_rows(metric.network.encoder, kept, new)
    return Metric(metric.name, metric.network, tokenizer, metric.file)


def _names(model: dict[str, Any]) -> list[str]:
    """Return the pieces of a tokenizer's model by their number."""
    if model["type"] == "Unigram":
        return [name for name, _ in model["vocab"]]
    return sorted(model["vocab"], key=model["vocab"].get)


def _bare(name: str) -> str:
    """Return a piece without its mark of place."""
    return name.removeprefix(CONTINUED).removeprefix(WORD_BEGIN) or name


def _in_scripts(names: Sequence[str], languages: Sequence[str]) -> set[int]:
    """Return the numbers of pieces all of whose letters belong to the scripts of the languages."""
    foreign = of_category("L", "M") & ~np.logical_or.reduce([letters(one) for one in languages])
    return {
        number for number, name in enumerate(names) if not foreign[code_points(_bare(name))].any()
    }


def _cut_rows(encoder: nn.Module, kept: list[int], new: dict[int, int]) -> None:
    """Keep some rows of an encoder's table of pieces, in place."""
    table, config = encoder.embeddings.word_embeddings, encoder.config
    rows = table.weight.detach()[[number for number in kept if number < len(table.weight)]]
    if len(rows) < len(kept):
        raise InputError("the tokenizer has more pieces than the encoder has rows; name its own")
    for key in IDS:
        if (old := getattr(config, key, None)) is not None:
            setattr(config, key, new.get(old, old))
    padding = None if table.padding_idx is None else new[table.padding_idx]
    cut = nn.Embedding(*rows.shape, padding_idx=padding)
    cut.weight = nn.Parameter(rows.clone())
    encoder.embeddings.word_embeddings = cut
    config.vocab_size = len(kept)
