"""Model folders: config.json, model.safetensors, vocab.spm, and source.spm if there are two vocabularies.

config.json holds format, architecture with per-layer shapes, parameters, the vocabularies' hashes and normalisation,
lineage (configuration, seed, versions, parents), and `quantization` if the weights are stored on a grid.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from weebill_runtime.architecture import Architecture
from weebill_runtime.errors import InputError, placed
from weebill_runtime.json_text import parse_json
from weebill_runtime.names import SOURCE_FILE, TARGET_FILE
from weebill_runtime.tensor_file import FLOAT, read_tensors
from weebill_runtime.vocabulary import AnyVocabulary, Vocabulary, VocabularyPair
from weebill_runtime.weights import (
    STORED,
    Weights,
    check_tensors,
    checked_grid,
    listed_numbers,
    quantized_shapes,
    separated,
    shapes,
)

FORMAT = "weebill-translation-1"
READABLE = (FORMAT, "goldcrest-translation-1")  # the second has the project's former name


class Model(Protocol):
    """Anything that was read from a model folder."""

    path: Path
    vocabulary: AnyVocabulary


@dataclass(frozen=True)
class Folder:
    """Content of a model folder; the weights are arrays on the mapped file."""

    path: Path
    config: dict[str, Any]
    vocabulary: AnyVocabulary
    weights: Weights


def read_folder(path: str | Path) -> Folder:
    """Read a model folder of any precision.

    Raises InputError for anything but a valid model folder: a damaged or foreign file, another vocabulary, NaN.
    """
    path = Path(path)
    if not path.exists():
        raise InputError(f"{path}: no such model folder; check the path")
    config, hashes, architecture = _read_config(path)
    vocabulary = _read_vocabulary(path, hashes, architecture)
    return Folder(path, config, vocabulary, _read_weights(path, config, architecture))


def check_vocabularies(models: Sequence[Model]) -> None:
    """Raise InputError unless the models of an ensemble have equal vocabularies."""
    for model in models[1:]:
        if model.vocabulary.sha256 != models[0].vocabulary.sha256:
            raise InputError(
                f"{model.path}: its vocabulary {model.vocabulary.sha256[:8]}… is not that of "
                f"{models[0].path} ({models[0].vocabulary.sha256[:8]}…); an ensemble shares one"
            )


def _read_config(path: Path) -> tuple[dict[str, Any], dict[str, str], Architecture]:
    """Read a folder's config.json; return it with the hashes of its vocabularies by file, and its architecture."""
    file = path / "config.json"
    if not file.is_file():
        message = f"{path}: not a model folder (no config.json); name the folder that training made"
        raise InputError(message)
    try:
        config = parse_json(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{file}: not valid JSON ({error}); make it again") from error
    found = config.get("format") if isinstance(config, dict) else None
    if found not in READABLE:
        kind = config.get("model_type") if isinstance(config, dict) else None
        whose = "another program's model" if kind is None else f"Hugging Face's {kind!r:.40}"
        message = f"{file}: format {found!r:.40}, expected {FORMAT!r}; {whose} is not read here, name a student"
        raise InputError(message)
    try:
        architecture, about = Architecture.from_dict(config["architecture"]), config["vocabulary"]
        hashes = {TARGET_FILE: str(about["sha256"])}
        if architecture.source_vocabulary is not None:
            hashes[SOURCE_FILE] = str(about["source"]["sha256"])
        return config, hashes, architecture
    except (KeyError, TypeError, InputError) as error:
        raise InputError(
            f"{file}: damaged, its vocabulary or architecture is not what was written "
            f"({type(error).__name__}: {error}); make the model again"
        ) from error


def _read_vocabulary(
    path: Path, hashes: Mapping[str, str], architecture: Architecture
) -> AnyVocabulary:
    sizes = {TARGET_FILE: architecture.vocabulary, SOURCE_FILE: architecture.source_vocabulary}
    found = {}
    for name, wanted in hashes.items():
        found[name] = one = Vocabulary(path / name)
        if one.sha256 != wanted:
            raise InputError(
                f"{path}: made with vocabulary {wanted[:8]}…, but {name} is {one.sha256[:8]}…; restore the "
                "vocabulary or retrain"
            )
        if len(one) != sizes[name]:
            raise InputError(
                f"{path}/config.json: an architecture of {sizes[name]:,} pieces, but {name} has {len(one):,}; "
                "make the model again"
            )
    if SOURCE_FILE in found:
        return VocabularyPair(found[SOURCE_FILE], found[TARGET_FILE])
    return found[TARGET_FILE]


def _read_weights(path: Path, config: dict[str, Any], architecture: Architecture) -> Weights:
    """Read a folder's tensors after checking them against config.json.

    Changes that keep every tensor's shape are not found: exchanged heads and head_size, or a tied decoder's depth.
    """
    file, grid, codes, listed = path / "model.safetensors", None, FLOAT, None
    like, section = shapes(architecture), config.get("quantization")
    if "quantization" in config:
        with placed(f"{path}/config.json"):
            grid, like = checked_grid(section), quantized_shapes(architecture, section)
        listed = listed_numbers(section)
        codes = "I8" if listed is None else "U8"
    try:
        tensors, _ = read_tensors(file, lambda name: (codes if name.endswith(STORED) else FLOAT,))
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{file}: missing or damaged ({error}); make the model again") from error
    with placed(file):
        if grid is not None:
            tensors = separated(tensors, like)
        check_tensors(tensors, like, grid)
    if config.get("parameters", architecture.parameters) != architecture.parameters:
        raise InputError(
            f"{path}/config.json: parameters {config['parameters']!r:.60}, but the network that it describes has "
            f"{architecture.parameters:,}; make the model again"
        )
    return Weights(architecture, tensors, grid, listed)
