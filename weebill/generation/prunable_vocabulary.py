"""Checks that a vocabulary can be pruned, by tokenizer.json and the model's number of rows.

Pieces without a row, such as one of bart-large-cnn (50,264 rows, 50,265 pieces), are dropped if nothing needs them.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, pre_tokenizers

from weebill.errors import InputError
from weebill.files import read_json

SINGLE = ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id",
          "forced_bos_token_id", "forced_eos_token_id", "sep_token_id")  # fmt: skip
# The only named special token that neither texts nor training nor search needs.
OPTIONAL = "mask_token"
LEAVE = "leave the vocabulary as it is"


def check_pieces(
    description: Mapping[str, Any],
    rows: int,
    special: Mapping[str, Any],
    numbers: Mapping[str, Any],
) -> None:
    """Raise InputError if a vocabulary cannot be pruned for any text.

    description: content of tokenizer.json.  rows: number of the model's embeddings.  special: role, such as
    eos_token → piece.  numbers: the model's configuration; the keys in `SINGLE` are checked.
    """
    model, alphabet = description.get("model", {}), pre_tokenizers.ByteLevel.alphabet()
    others = ("continuing_subword_prefix", "end_of_word_suffix", "ignore_merges")
    plain = model.get("type") == "BPE" and not any(map(model.get, others))
    if not plain or not model["vocab"].keys() >= set(alphabet):
        raise InputError(f"the tokenizer is no byte-level BPE; {LEAVE}")
    without = without_row(description, rows)
    names = {name: number for number, name in without.items()}
    needed = {f"its {role}": names.get(_text(piece)) for role, piece in special.items()}
    needed.pop(f"its {OPTIONAL}", None)
    needed |= {f"the model's {key}": numbers.get(key) for key in SINGLE}
    needed |= {f"the byte '{letter}'": names.get(letter) for letter in alphabet}
    needed["what stands around each text"] = around(description.get("post_processor"))
    for what, found in needed.items():
        for number in found if isinstance(found, list) else [found]:
            if number in without:
                raise InputError(
                    f"{what} is piece {number:,} of the tokenizer, '{without[number]}', but the model has "
                    f"{rows:,} rows; {LEAVE}, or give the model its own tokenizer"
                )


def check_folder(path: Path) -> None:
    """Raise InputError if a model folder exists whose vocabulary cannot be pruned, as far as its files show."""
    try:
        config = read_json(path / "config.json")
        # The library's defaults apply: old files lack the model's type.
        description = json.loads(Tokenizer.from_file(str(path / "tokenizer.json")).to_str())
    except Exception:  # the tokenizers library raises no narrower class; loading reports the fault
        return
    special: dict[str, Any] = {}
    for name in ("special_tokens_map.json", "tokenizer_config.json"):
        if (path / name).is_file():
            found = read_json(path / name)
            special |= {key: found[key] for key in found if key.endswith("_token")}
    special = {key: piece for key, piece in special.items() if _text(piece)}
    rows = config.get("vocab_size") if isinstance(config, dict) else None
    if isinstance(rows, int):
        check_pieces(description, rows, special, config)


def without_row(description: Mapping[str, Any], rows: int) -> dict[int, str]:
    """Return the pieces of a tokenizer beyond the rows of a model, by number."""
    pieces = {number: piece for piece, number in description["model"]["vocab"].items()}
    pieces |= {token["id"]: token["content"] for token in description.get("added_tokens", ())}
    return {number: piece for number, piece in sorted(pieces.items()) if number >= rows}


def around(processor: Mapping[str, Any] | None) -> list[int]:
    """Return the numbers of the special tokens that a tokenizer's `post_processor` puts around a text."""
    if not processor:
        return []
    found = [number for one in processor.get("processors", ()) for number in around(one)]
    if processor.get("type") == "TemplateProcessing":
        for token in processor["special_tokens"].values():
            found += token["ids"]
    elif processor.get("type") in ("RobertaProcessing", "BertProcessing"):
        found += [processor["sep"][1], processor["cls"][1]]
    return found


def _text(piece: Any) -> str | None:
    """Return the text of a special token from its file: a string, or a dictionary with `content`."""
    found = piece.get("content") if isinstance(piece, Mapping) else piece
    return found if isinstance(found, str) else None
