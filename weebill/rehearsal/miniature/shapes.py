"""Small architectures with the structure of large ones: equal heads, layers and sharing, but other widths."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from weebill.errors import InputError, nearest
from weebill.experiment.known_models import FILE, known_model, known_models
from weebill.experiment.zoo import Zoo
from weebill.files import read_json
from weebill.metric.encoder_family import BY_TYPE, family_of
from weebill.rehearsal.miniature.stand_ins import Model, StandIns, Use

WIDTH = 64  # of embeddings; Firefox's engine needs a multiple of 64
NEURONS = 128
PIECES = 504  # of a vocabulary, with 256 for bytes; Firefox's engine needs multiples of 8
MORE_PIECES = 24  # difference between a vocabulary and the next smaller one


def small_entry(entry: Mapping[str, Any], sizes: Mapping[int, int]) -> dict[str, Any]:
    """Return a small entry of the zoo; sizes: small vocabulary sizes by the original ones."""
    heads = entry["heads"]
    width = max(WIDTH, 2 * heads)
    narrow = max(width // 2 // heads, 1) * heads
    small = {
        **entry,
        "embedding": width,
        "attention_width": narrow if entry["attention_width"] < entry["embedding"] else width,
        "feed_forward": NEURONS,
    }
    if isinstance(entry["decoder_layers"], list):  # an ensemble: two members stay
        small["decoder_layers"] = [entry["decoder_layers"][0], entry["decoder_layers"][-1]]
    if "vocabulary" in entry:
        small["vocabulary"] = sizes[entry["vocabulary"]]
    return small


def small_sizes(sizes: Iterable[int]) -> dict[int, int]:
    """Return a small vocabulary size for each size; different sizes stay different."""
    return {size: PIECES + MORE_PIECES * number for number, size in enumerate(sorted(set(sizes)))}


def small_zoo(zoo: Zoo, names: Iterable[str]) -> Zoo:
    """Return small entries of some models."""
    found = {name: zoo[name] for name in dict.fromkeys(names)}
    small = small_sizes(entry["vocabulary"] for entry in found.values() if "vocabulary" in entry)
    return {name: small_entry(entry, small) for name, entry in found.items()}


def stand_in_of(name: str, use: Use, **other: Any) -> Model:
    """Return the stand-in of an existing model, by its folder's config.json, or else by its name.

    Raises InputError if the model is not here, and its structure is not known.
    """
    local = Path(name) / "config.json"
    if local.is_file():
        structure = _structure(read_json(local))
        if use == "encoder":
            structure["family"] = family_of(name)
        return Model(use, **structure, **other)
    if known := known_model(name):
        return Model(use, family=known.family, layers=known.layers, heads=known.heads, **other)
    near = nearest(name, known_models())
    raise InputError(
        f"{name}: no such folder here, and its structure is not known{near}; add it to {FILE}"
    )


def with_small_model(
    entry: Mapping[str, Any], use: Use, stand_ins: StandIns, **other: Any
) -> dict[str, Any]:
    """Return an entry whose `hugging_face` names a stand-in; a model of the hub, with a revision, keeps its name."""
    name = entry["hugging_face"]
    model = stand_in_of(name, use, **other)
    if "revision" in entry:
        stand_ins.hub_model(name, model)
        return dict(entry)
    return {**entry, "hugging_face": stand_ins.model(name, model)}


def _structure(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return family, layers and heads from the configuration of a model of the library transformers."""
    kind = config["model_type"]
    layers = ("encoder_layers", "num_hidden_layers", "n_layer", "num_layers")
    heads = ("encoder_attention_heads", "num_attention_heads", "n_head", "num_heads")
    return {
        "family": BY_TYPE.get(kind, kind),
        "layers": next(config[key] for key in layers if key in config),
        "heads": next(config[key] for key in heads if key in config),
    }
