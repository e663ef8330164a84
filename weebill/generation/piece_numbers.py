"""Settings of a model that name pieces of its vocabulary by number: their discovery and renumbering."""

from collections.abc import Iterator, Mapping
from typing import Any

from transformers import PreTrainedModel

from weebill.errors import InputError

SUFFIX = "_token_id"  # of keys whose value is one number, or a list of alternatives
LISTS = {"suppress_tokens", "begin_suppress_tokens", "bad_words_ids", "force_words_ids"}
BIASES = "sequence_bias"  # pairs of numbers and a bias; or a dictionary of them
# Keys that may hold numbers in other forms: pairs with positions, objects, or tables of languages.
OTHERS = ("_ids", "_to_id", "constraints")


def named_pieces(model: PreTrainedModel) -> set[int]:
    """Return the numbers in a model's settings.  Raises InputError if a setting has numbers in an unknown form."""
    found: set[int] = set()
    for config in _configurations(model):
        for key, value in vars(config).items():
            if value and key not in LISTS and key.endswith(OTHERS):
                raise InputError(
                    f"the model's setting {key} names pieces in a form that cannot be renumbered; remove it, or "
                    "leave the vocabulary as it is"
                )
        for key, value in _numbered(config):
            pieces = _flat([*_biases(key, value)] if key == BIASES else value)
            if not all(type(piece) is int for piece in pieces):
                raise InputError(
                    f"the model's setting {key} is {value!s:.60}, expected numbers of pieces; correct it"
                )
            found.update(pieces)
    return found


def renumber_settings(model: PreTrainedModel, number: Mapping[int, int]) -> None:
    """Renumber the pieces in a model's settings, in place; drop numbers of removed pieces and their sequences."""
    for config in _configurations(model):
        for key, value in list(_numbered(config)):
            if key == BIASES:
                kept = {
                    pieces: bias
                    for pieces, bias in _biases(key, value).items()
                    if number.keys() >= {*pieces}
                }
                new = [[[number[piece] for piece in pieces], bias] for pieces, bias in kept.items()]
                setattr(config, key, new or None)
            else:
                setattr(config, key, _mapped(value, number))


def _configurations(model: PreTrainedModel) -> list[Any]:
    return [one for one in (model.config, model.generation_config) if one is not None]


def _numbered(config: Any) -> Iterator[tuple[str, Any]]:
    """Yield the settings with numbers of pieces."""
    for key, value in vars(config).items():
        if value is not None and (key.endswith(SUFFIX) or key in LISTS or key == BIASES):
            yield key, value


def _biases(key: str, value: Any) -> dict[tuple[int, ...], float]:
    """Return the bias of each sequence of pieces, from either form that the library has."""
    try:
        pairs = value.items() if isinstance(value, Mapping) else value
        return {tuple(pieces): float(bias) for pieces, bias in pairs}
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the model's setting {key} is {value!s:.60}, expected pairs of pieces and a bias; correct it"
        ) from error


def _flat(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [number for one in value for number in _flat(one)]
    return [value]


def _mapped(value: Any, number: Mapping[int, int]) -> Any:
    if not isinstance(value, list | tuple):
        return number.get(value)
    return [_mapped(one, number) for one in value if number.keys() >= {*_flat(one)}] or None
