"""Vocabulary pruning: a model keeps the pieces that given text uses, and its tokenizer those that spell them.

TEXTGEN §3.2.  Kept are the pieces of the text, special tokens, every byte's own piece, so that any text can still be
written, and all that merges make kept pieces of.  Text whose pieces are kept is cut into the same pieces, since
byte-pair encoding applies to it the same merges in the same order; and a kept piece is as probable as before against
every other kept one.
"""

import json
from collections.abc import Iterable
from itertools import islice
from typing import Any

import torch
from tokenizers import Tokenizer, pre_tokenizers
from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from weebill.errors import InputError

LINES = 1000  # tokenized together
_SINGLE = ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id",
           "forced_bos_token_id", "forced_eos_token_id", "sep_token_id")  # fmt: skip
_SEVERAL = ("suppress_tokens", "begin_suppress_tokens", "bad_words_ids")


def prune_vocabulary(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, texts: Iterable[str]
) -> tuple[PreTrainedTokenizerFast, Tensor]:
    """Cut a float32 model in place to the pieces that texts use; returns its new tokenizer and the old numbers kept.

    Pieces keep their order, so new number i was kept[i]; `kept` is ascending.
    Raises InputError where the tokenizer is no byte-level BPE, as BART's and GPT-2's are, or the model has fewer
    pieces than it.
    """
    description = _description(tokenizer)
    pieces = model.get_input_embeddings().weight.shape[0]
    if len(tokenizer) > pieces:
        raise InputError(f"the tokenizer has {len(tokenizer):,} pieces, the model {pieces:,}")
    used = {piece for piece in _ids(model) if piece < pieces} | set(tokenizer.all_special_ids)
    lines = iter(texts)
    while some := list(islice(lines, LINES)):
        for tokens in tokenizer(some, verbose=False)["input_ids"]:
            used.update(tokens)
    kept = _with_makings(description, used)
    number = {old: new for new, old in enumerate(kept)}
    _cut(model, torch.tensor(kept), number)
    return _renumbered(tokenizer, description, number), torch.tensor(kept)


def _description(tokenizer: PreTrainedTokenizerBase) -> dict[str, Any]:
    """The tokenizer's tokenizer.json."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    description = json.loads(backend.to_str()) if backend is not None else {"model": {}}
    model, alphabet = description["model"], set(pre_tokenizers.ByteLevel.alphabet())
    plain = not any(
        model.get(key)
        for key in ("continuing_subword_prefix", "end_of_word_suffix", "ignore_merges")
    )
    if model.get("type") != "BPE" or not plain or not alphabet.issubset(model["vocab"]):
        raise InputError(
            f"{type(tokenizer).__name__} is no byte-level BPE; leave the vocabulary as it is"
        )
    return description


def _with_makings(description: dict[str, Any], used: set[int]) -> list[int]:
    """The numbers of used pieces, bytes, added tokens, and of all that merges make them of; ascending."""
    vocabulary = description["model"]["vocab"]
    name = {number: piece for piece, number in vocabulary.items()}
    makings: dict[str, list[str]] = {}  # every pair that gives a piece, one after another
    for left, right in description["model"]["merges"]:
        makings.setdefault(left + right, []).extend((left, right))
    kept = used | {token["id"] for token in description["added_tokens"]}
    waiting = [name[number] for number in used if number in name]
    waiting += pre_tokenizers.ByteLevel.alphabet()
    seen: set[str] = set()
    while waiting:
        piece = waiting.pop()
        if piece not in seen:
            seen.add(piece)
            waiting += makings.get(piece, ())
    return sorted(kept | {vocabulary[piece] for piece in seen})


def _renumbered(
    tokenizer: PreTrainedTokenizerBase, description: dict[str, Any], number: dict[int, int]
) -> PreTrainedTokenizerFast:
    """The tokenizer with the pieces of `number` alone, by old numbers the new ones."""
    model = description["model"]
    model["vocab"] = {piece: number[old] for piece, old in model["vocab"].items() if old in number}
    model["merges"] = [
        pair for pair in model["merges"] if {*pair, "".join(pair)} <= model["vocab"].keys()
    ]
    for token in description["added_tokens"]:
        token["id"] = number[token["id"]]
    _renumber_processor(description["post_processor"], number)
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(description)),
        model_max_length=tokenizer.model_max_length,
        padding_side=tokenizer.padding_side,
        truncation_side=tokenizer.truncation_side,
        model_input_names=tokenizer.model_input_names,
        clean_up_tokenization_spaces=tokenizer.clean_up_tokenization_spaces,
        **tokenizer.special_tokens_map,
    )


def _renumber_processor(processor: Any, number: dict[int, int]) -> None:
    """The numbers in what puts special tokens around a text: of a template, of RoBERTa's, or of several."""
    for one in (processor or {}).get("processors", ()):
        _renumber_processor(one, number)
    kind = (processor or {}).get("type")
    if kind == "TemplateProcessing":
        for token in processor["special_tokens"].values():
            token["ids"] = [number[old] for old in token["ids"]]
    elif kind == "RobertaProcessing":
        for end in ("sep", "cls"):
            processor[end][1] = number[processor[end][1]]


def _ids(model: PreTrainedModel) -> set[int]:
    """The pieces that the model's configurations speak of."""
    found: set[int] = set()
    for config in (model.config, model.generation_config):
        for key in (*_SINGLE, *_SEVERAL):
            found.update(_flat(getattr(config, key, None)))
    return found


def _flat(value: Any) -> list[int]:
    if isinstance(value, list | tuple):
        return [number for one in value for number in _flat(one)]
    return [] if value is None else [value]


def _mapped(value: Any, number: dict[int, int]) -> Any:
    """A number, or lists of them, renumbered; what is beyond the vocabulary goes."""
    if isinstance(value, list | tuple):
        return [_mapped(one, number) for one in value]
    return number.get(value)


def _cut(model: PreTrainedModel, kept: Tensor, number: dict[int, int]) -> None:
    """Keep some rows of every table with a row a piece, and renumber what the model's configurations speak of."""
    tables = [model.get_input_embeddings().weight]
    if (head := model.get_output_embeddings()) is not None:
        tables.append(head.weight)
    cut = {
        id(table): nn.Parameter(table.detach()[kept].clone(), table.requires_grad)
        for table in tables
    }
    for module in model.modules():
        if isinstance(module, nn.Embedding | nn.Linear) and id(module.weight) in cut:
            module.weight = cut[id(module.weight)]
            if isinstance(module, nn.Linear):
                module.out_features = len(kept)
                if module.bias is not None:
                    module.bias = nn.Parameter(
                        module.bias.detach()[kept].clone(), module.bias.requires_grad
                    )
            else:
                module.num_embeddings = len(kept)
        if getattr(module, "padding_idx", None) is not None:
            module.padding_idx = number.get(module.padding_idx)
    if (bias := getattr(model, "final_logits_bias", None)) is not None:
        model.final_logits_bias = bias[:, kept].clone()
    for config in (model.config, model.generation_config):
        for key in (*_SINGLE, *_SEVERAL):
            if getattr(config, key, None) is not None:
                setattr(config, key, _mapped(getattr(config, key), number))
    model.config.vocab_size = len(kept)
