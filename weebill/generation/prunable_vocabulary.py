"""Checks that a vocabulary can be pruned, from tokenizer.json and the model's number of rows.

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
# The only named special token that no text, training or search needs.
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
    model, marks = description.get("model", {}), ("continuing_subword_prefix", "end_of_word_suffix")
    plain_bpe = model.get("type") == "BPE" and not any(map(model.get, marks))
    if not plain_bpe and model.get("type") != "Unigram":
        raise InputError(f"the tokenizer has no tokenizer.json of unigram or plain BPE; {LEAVE}")
    without = without_row(description, rows)
    names = {name: number for number, name in without.items()}
    needed = {f"its {role}": names.get(_text(piece)) for role, piece in special.items()}
    needed.pop(f"its {OPTIONAL}", None)
    needed |= {f"the model's {key}": numbers.get(key) for key in SINGLE}
    needed |= {f"the letter '{letter}'": names.get(letter) for letter in spelling(description)}
    needed["what stands for unknown letters"] = names.get(unknown(description))
    needed["what stands around each text"] = around(description.get("post_processor"))
    for what, found in needed.items():
        for number in found if isinstance(found, list) else [found]:
            if number in without:
                raise InputError(
                    f"{what} is piece {number:,} of the tokenizer, '{without[number]}', but the model has "
                    f"{rows:,} rows; {LEAVE}, or give the model its own tokenizer"
                )


def check_folder(path: Path) -> None:
    """Raise InputError if a model folder exists whose files show that its vocabulary cannot be pruned."""
    try:
        config = read_json(path / "config.json")
        # The library's defaults apply: old files lack the model's type.
        description = json.loads(Tokenizer.from_file(str(path / "tokenizer.json")).to_str())
    except Exception:  # the library raises no narrower class; the load reports the fault
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


def numbers_of(description: Mapping[str, Any]) -> dict[str, int]:
    """Return the numbers of the pieces of a tokenizer's model; a unigram model lists them, with scores, in order."""
    vocabulary = description["model"]["vocab"]
    if isinstance(vocabulary, Mapping):
        return dict(vocabulary)
    return {piece: number for number, (piece, _) in enumerate(vocabulary)}


def unknown(description: Mapping[str, Any]) -> str | None:
    """Return the piece of a tokenizer's model that stands for letters without a spelling; None if there is none."""
    model = description["model"]
    if model["type"] == "BPE":
        return model.get("unk_token")
    return None if model.get("unk_id") is None else model["vocab"][model["unk_id"]][0]


def spelling(description: Mapping[str, Any]) -> set[str]:
    """Return the pieces of a tokenizer's model that spell any text: bytes, or single letters and perhaps bytes."""
    pieces = numbers_of(description).keys()
    if any(_has_byte_level(description.get(part)) for part in ("pre_tokenizer", "decoder")):
        return pieces & set(pre_tokenizers.ByteLevel.alphabet())
    letters = {piece for piece in pieces if len(piece) == 1}
    if description["model"].get("byte_fallback"):
        letters |= pieces & {f"<0x{byte:02X}>" for byte in range(256)}
    return letters


def _has_byte_level(part: Mapping[str, Any] | None) -> bool:
    """Return True for a pre-tokenizer or decoder that maps bytes to letters, or a sequence with one."""
    if not part:
        return False
    inside = part.get("pretokenizers") or part.get("decoders") or ()
    return part["type"] == "ByteLevel" or any(map(_has_byte_level, inside))


def without_row(description: Mapping[str, Any], rows: int) -> dict[int, str]:
    """Return the pieces of a tokenizer beyond the rows of a model, by number."""
    pieces = {number: piece for piece, number in numbers_of(description).items()}
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
