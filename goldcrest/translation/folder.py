"""A translation model as a folder: config.json, model.safetensors, vocab.spm.

config.json: format, architecture with per-layer shapes, parameters, the vocabulary's hash, lineage (what made
it: configuration, seed, versions, parents), and `quantization` where the weights are stored on a grid.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from goldcrest import quantization as quantized
from goldcrest.errors import InputError
from goldcrest.files import atomic_folder, read_json, sha256_file, write_json
from goldcrest.translation.architecture import Architecture
from goldcrest.translation.network import Translator
from goldcrest.translation.vocabulary import Vocabulary

FORMAT = "goldcrest-translation-1"
TIED = {"output.weight": "embedding.weight"}  # stored once, under the second name


@dataclass(frozen=True)
class Model:
    """A loaded model folder; the network is in evaluation mode."""

    path: Path
    network: Translator
    vocabulary: Vocabulary
    config: dict[str, Any]


def save_model(
    path: str | Path,
    network: Translator,
    vocabulary: Vocabulary,
    lineage: Mapping[str, Any],
    quantization: Mapping[str, Any] | None = None,
) -> None:
    """Write a model folder atomically; equal models make equal bytes.

    quantization: the section that describes a network of packed layers (`goldcrest.quantization`).
    """
    tensors = {
        name: value.detach().cpu().contiguous() for name, value in _own_tensors(network).items()
    }
    config = {
        "format": FORMAT,
        "architecture": network.architecture.to_dict(),
        "parameters": _parameters_of(network.architecture),
        "vocabulary": {"sha256": vocabulary.sha256, "pieces": len(vocabulary)},
        "lineage": dict(lineage),
    }
    if quantization is not None:
        config["quantization"] = dict(quantization)
        tensors = quantized.merged(tensors)
    with atomic_folder(path) as folder:
        save_file(tensors, folder / "model.safetensors")
        (folder / "model.safetensors").chmod(0o644)  # safetensors writes for the owner alone
        shutil.copyfile(vocabulary.path, folder / "vocab.spm")
        write_json(folder / "config.json", config)


def load_model(path: str | Path, dropout: float = 0.0) -> Model:
    """Read a model folder.  dropout: of the network where it is trained further.

    Raises InputError where it is none, is damaged, or its vocabulary is not the one it was made with.
    """
    path = Path(path)
    if not (path / "config.json").is_file():
        raise InputError(
            f"{path}: not a model folder (no config.json); name the folder that training made"
        )
    config = read_json(path / "config.json")
    found = config.get("format") if isinstance(config, dict) else None
    if found != FORMAT:
        raise InputError(f"{path}/config.json: format {found!r}, expected {FORMAT!r}")
    try:
        wanted = str(config["vocabulary"]["sha256"])
        architecture = Architecture.from_dict(config["architecture"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{path}/config.json: damaged, its vocabulary or architecture is not what was written "
            f"({type(error).__name__}: {error}); make the model again"
        ) from error
    vocabulary = Vocabulary(path / "vocab.spm")
    if vocabulary.sha256 != wanted:
        raise InputError(
            f"{path}: made with vocabulary {wanted[:8]}…, but vocab.spm is {vocabulary.sha256[:8]}…; restore the "
            "vocabulary or retrain"
        )
    if len(vocabulary) != architecture.vocabulary:
        raise InputError(
            f"{path}/config.json: an architecture of {architecture.vocabulary:,} pieces, but vocab.spm has "
            f"{len(vocabulary):,}; make the model again"
        )
    network = Translator(architecture, dropout)
    try:
        tensors = load_file(path / "model.safetensors")
    except (FileNotFoundError, SafetensorError) as error:
        raise InputError(
            f"{path}/model.safetensors: missing or damaged ({error}); make the model again"
        ) from error
    if "quantization" in config:
        quantized.apply(network, config["quantization"], tensors)
        try:
            tensors = quantized.separated(tensors, _own_tensors(network))
        except InputError as error:
            raise InputError(f"{path}/model.safetensors: {error}") from error
    load_tensors(network, tensors, path)
    return Model(path, network.eval(), vocabulary, config)


def load_tensors(network: Translator, tensors: Mapping[str, Tensor], origin: str | Path) -> None:
    """Fill a network from stored tensors, tied ones from their one copy.

    Raises InputError naming what is missing, left over or of another shape.
    """
    try:
        missing, unexpected = network.load_state_dict(dict(tensors), strict=False)
    except RuntimeError as error:
        raise InputError(f"{origin}: {str(error).splitlines()[-1].strip()}") from error
    missing = [name for name in missing if name not in TIED]
    if missing or unexpected:
        raise InputError(
            f"{origin}: tensors missing {missing}, not expected {unexpected}; make the model again"
        )


def _own_tensors(network: Translator) -> dict[str, Tensor]:
    """What a folder stores of a network: its tensors by name, tied ones once."""
    return {name: value for name, value in network.state_dict().items() if name not in TIED}


def model_hash(path: str | Path) -> str:
    """SHA-256 of a model folder's parameters file, by which measurements name the model."""
    return sha256_file(Path(path) / "model.safetensors")


def _parameters_of(architecture: Architecture) -> int:
    """Parameters of the network of an architecture, which packed weights do not show."""
    with torch.device("meta"):
        return count_parameters(Translator(architecture))


def count_parameters(network: torch.nn.Module) -> int:
    """Parameters of a network, tied ones once."""
    return sum(parameter.numel() for parameter in network.parameters())
