"""Class of an encoder in unbabel-comet (`encoder_model`), found from the files of its folder without libraries."""

from pathlib import Path
from typing import Any

from weebill.errors import InputError, nearest
from weebill.files import read_json

# COMET's names by `model_type` of a configuration.
BY_TYPE = {
    "xlm-roberta": "XLM-RoBERTa",
    "xlm-roberta-xl": "XLM-RoBERTa-XL",
    "bert": "BERT",
    "rembert": "RemBERT",
}
MINILM = "MiniLM"  # BERT's shape with XLM-R's pieces
XLMR_PIECES, PIECES = "sentencepiece.bpe.model", "tokenizer.json"
KEY = "encoder_model"


def family_of(folder: str | Path) -> str:
    """Return COMET's name for the encoder in a folder with config.json and tokenizer.

    An encoder of BERT's class is MiniLM if its pieces are XLM-R's, a SentencePiece unigram model.
    Raises InputError if the folder has no configuration, or COMET has no class for the encoder.
    """
    place = Path(folder) / "config.json"
    if not place.is_file():
        raise InputError(f"{folder}: not an encoder's folder (no config.json); name one")
    kind = _value(place, "model_type")
    if kind not in BY_TYPE:
        found = f"{place}: model_type is {kind!r:.40}, expected one of {', '.join(BY_TYPE)}"
        raise InputError(f"{found}{nearest(str(kind), BY_TYPE)}; COMET has no class for others")
    minilm = kind == "bert" and _has_xlmr_pieces(Path(folder))
    return MINILM if minilm else BY_TYPE[kind]


def checked_family(given: Any, folder: str | Path) -> str:
    """Return `family_of` an encoder's folder.

    given: the hyperparameter `encoder_model`, or None.  Raises InputError if it names another class, whose weights
    would be random, and the errors of `family_of`.
    """
    found = family_of(folder)
    if given not in (None, found):
        raise InputError(
            f"{KEY}: found {given!r:.40}, but {folder} holds an encoder of the class {found}; remove the key, which "
            "follows from the folder"
        )
    return found


def _has_xlmr_pieces(folder: Path) -> bool:
    if (folder / XLMR_PIECES).is_file():
        return True
    model = _value(folder / PIECES, "model") if (folder / PIECES).is_file() else None
    return isinstance(model, dict) and model.get("type") == "Unigram"


def _value(path: Path, key: str) -> Any:
    values = read_json(path)
    return values.get(key) if isinstance(values, dict) else None
