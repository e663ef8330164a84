"""Content of a tokenizer.json, renumbered for the pieces that pruning keeps."""

from collections.abc import Mapping
from typing import Any


def renumber(description: dict[str, Any], number: Mapping[int, int]) -> None:
    """Keep only the pieces of `number`, old → new number, in place.

    The model is unigram, BPE or WordPiece; the new numbers keep the order of the old ones.
    Padding by a removed piece is dropped.
    """
    model = description["model"]
    if model["type"] == "Unigram":
        if model.get("unk_id") is not None:
            model["unk_id"] = number[model["unk_id"]]
        model["vocab"] = [entry for old, entry in enumerate(model["vocab"]) if old in number]
    else:
        vocabulary = {piece: number[old] for piece, old in model["vocab"].items() if old in number}
        model["vocab"] = vocabulary
        if "merges" in model:
            model["merges"] = [
                pair for pair in model["merges"] if {*pair, "".join(pair)} <= vocabulary.keys()
            ]
    added = [token for token in description["added_tokens"] if token["id"] in number]
    description["added_tokens"] = [{**token, "id": number[token["id"]]} for token in added]
    _renumber_processor(description["post_processor"], number)
    if padding := description.get("padding"):
        kept = number.get(padding["pad_id"])
        description["padding"] = None if kept is None else {**padding, "pad_id": kept}


def _renumber_processor(processor: Any, number: Mapping[int, int]) -> None:
    """Renumber a post-processor, which puts special tokens around a text: a template, RoBERTa's, or several."""
    for one in (processor or {}).get("processors", ()):
        _renumber_processor(one, number)
    kind = (processor or {}).get("type")
    if kind == "TemplateProcessing":
        for token in processor["special_tokens"].values():
            token["ids"] = [number[old] for old in token["ids"]]
    elif kind in ("RobertaProcessing", "BertProcessing"):
        for end in ("sep", "cls"):
            processor[end][1] = number[processor[end][1]]
