"""Translation models as folders: config.json, model.safetensors, vocab.spm, and source.spm if there are two.

config.json holds format, architecture with per-layer shapes, parameters, the vocabularies' hashes and normalisation,
lineage (configuration, seed, versions, parents), and `quantization` if the weights are stored on a grid.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from weebill.errors import InputError, placed
from weebill.experiment.shapes import Architecture
from weebill.experiment.vocabularies import SOURCE_FILE, TARGET_FILE
from weebill.files import atomic_folder, read_json, sha256_file, write_json
from weebill.replaceable import FolderKind, check_replaceable, has_format
from weebill.tensor_files import FLOAT, check_types
from weebill.translation.model.network import Translator
from weebill.translation.model.vocabulary import Vocabulary
from weebill.translation.model.vocabulary_pair import AnyVocabulary, VocabularyPair, copy_vocabulary

FORMAT = "weebill-translation-1"
READABLE = (FORMAT, "goldcrest-translation-1")  # the second has the project's former name
KIND = FolderKind(
    always=("config.json", "model.safetensors", TARGET_FILE),
    perhaps=(SOURCE_FILE,),
    mark=("config.json", lambda file: has_format(file, READABLE)),
)
TIED = {"output.weight": "embedding.weight"}  # stored once, under the second name


@dataclass(frozen=True)
class Model:
    """Loaded model folder; the network is in evaluation mode."""

    path: Path
    network: Translator
    vocabulary: AnyVocabulary
    config: dict[str, Any]


def save_model(
    path: str | Path,
    network: Translator,
    vocabulary: AnyVocabulary,
    lineage: Mapping[str, Any],
    quantization: Mapping[str, Any] | None = None,
    packing: ModuleType | None = None,
) -> None:
    """Write a model folder atomically; equal models make equal bytes.

    quantization: the section that describes a network of packed layers; packing: `weebill.quantization.files` then.
    Raises InputError if anything but a model folder, or the float32 model itself, would be replaced.
    """
    check_replaceable(path, KIND)
    if quantization is not None:
        file, source = Path(path).resolve() / "config.json", vocabulary.target.path.parent
        if (
            file.is_file()
            and source.samefile(file.parent)
            and "quantization" not in read_json(file)
        ):
            raise InputError(f"{file.parent}: is the folder the model was read from; name another")
    own = _own_tensors(network).items()
    tensors = {name: value.detach().cpu().contiguous() for name, value in own}
    with torch.device("meta"):  # the network itself may have packed weights
        parameters = count_parameters(Translator(network.architecture))
    config = {
        "format": FORMAT,
        "architecture": network.architecture.to_dict(),
        "parameters": parameters,
        "vocabulary": vocabulary.about,
        "lineage": dict(lineage),
    }
    if vocabulary.normalisation is not None:  # vocab.spm holds it
        config["normalisation"] = vocabulary.normalisation.to_dict()
    if quantization is not None:
        config["quantization"] = dict(quantization)
        tensors = packing.merged(tensors)
    with atomic_folder(path, KIND) as folder:
        save_file(tensors, folder / "model.safetensors")
        (folder / "model.safetensors").chmod(0o644)  # safetensors lets only the owner read it
        copy_vocabulary(vocabulary, folder)
        write_json(folder / "config.json", config)


def load_model(path: str | Path, dropout: float = 0.0, packing: ModuleType | None = None) -> Model:
    """Read a model folder.  dropout: the network's dropout in further training.

    packing: `weebill.quantization.files` if packed weights may be read; trainings read only float32 weights.
    Raises InputError for anything but a sound model folder: a damaged or foreign file, another vocabulary, NaN.
    """
    path = Path(path)
    config, hashes, architecture = _read_config(path)
    if "quantization" in config and packing is None:
        message = f"{path}: its weights are on a grid; name the float32 model it was made of"
        raise InputError(message)
    vocabulary = _read_vocabulary(path, hashes, architecture)
    tensors = _read_tensors(path, config, architecture, packing)
    network = Translator(architecture, dropout)
    if "quantization" in config:
        packing.apply(network, config["quantization"], tensors)
    load_tensors(network, tensors, path / "model.safetensors")
    return Model(path, network.eval(), vocabulary, config)


def _read_config(path: Path) -> tuple[dict[str, Any], dict[str, str], Architecture]:
    """Read a folder's config.json; return it with the hashes of its vocabularies by file, and its architecture."""
    if not (path / "config.json").is_file():
        message = f"{path}: not a model folder (no config.json); name the folder that training made"
        raise InputError(message)
    config = read_json(path / "config.json")
    found = config.get("format") if isinstance(config, dict) else None
    if found not in READABLE:
        raise InputError(f"{path}/config.json: format {found!r}, expected {FORMAT!r}")
    try:
        architecture, about = Architecture.from_dict(config["architecture"]), config["vocabulary"]
        hashes = {TARGET_FILE: str(about["sha256"])}
        if architecture.source_vocabulary is not None:
            hashes[SOURCE_FILE] = str(about["source"]["sha256"])
        return config, hashes, architecture
    except (KeyError, TypeError, InputError) as error:
        raise InputError(
            f"{path}/config.json: damaged, its vocabulary or architecture is not what was written "
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


def _read_tensors(
    path: Path, config: dict[str, Any], architecture: Architecture, packing: ModuleType | None
) -> dict[str, Tensor]:
    """Return a folder's tensors by their names in the network, after checking them against config.json.

    Changes that keep every tensor's shape are not found: exchanged heads and head_size, or a tied decoder's depth.
    """
    file, types = path / "model.safetensors", lambda _: (FLOAT,)
    packed = "quantization" in config
    if packed:
        with placed(f"{path}/config.json"):
            types = packing.stored_type(config["quantization"])
    try:
        check_types(file, types)
        tensors = load_file(file)
    except (FileNotFoundError, SafetensorError) as error:
        raise InputError(f"{file}: missing or damaged ({error}); make the model again") from error
    with torch.device("meta"):  # shapes only
        network = Translator(architecture)
    parameters = count_parameters(network)
    if packed:
        with placed(f"{path}/config.json"):
            packing.apply(network, config["quantization"], tensors)
        with placed(file):
            tensors = packing.separated(tensors, _own_tensors(network))
            packing.check_scales(network, tensors)
    _check_shapes(network, tensors, file)
    if config.get("parameters", parameters) != parameters:
        raise InputError(
            f"{path}/config.json: parameters {config['parameters']!r:.60}, but the network that it describes has "
            f"{parameters:,}; make the model again"
        )
    return tensors


def load_tensors(network: Translator, tensors: Mapping[str, Tensor], origin: str | Path) -> None:
    """Fill a network from stored tensors.  Raises InputError for a missing, unknown, misshapen or infinite one."""
    _check_shapes(network, tensors, origin)
    # NaN or infinity would give empty translations without an error.  The extremes are NaN if any number is, and take
    # a twentieth of the time of a test of each number.
    filled = {name: t for name, t in tensors.items() if t.is_floating_point() and t.numel()}
    wrong = [name for name, t in filled.items() if not all(map(torch.isfinite, torch.aminmax(t)))]
    if wrong:
        raise InputError(
            f"{origin}: NaN or infinity in {_first(wrong)}; the model has diverged, or the file is damaged: train "
            "it again, or restore the file"
        )
    network.load_state_dict(dict(tensors), strict=False)  # only tied tensors are missing


def _check_shapes(network: Translator, tensors: Mapping[str, Tensor], origin: str | Path) -> None:
    own, wanted = network.state_dict(), _own_tensors(network)
    missing = [name for name in wanted if name not in tensors]
    unexpected = [name for name in tensors if name not in own]
    if missing or unexpected:
        raise InputError(
            f"{origin}: tensors missing {_first(missing)}, not expected {_first(unexpected)}; make the model again"
        )
    for name, found in tensors.items():
        if found.shape != own[name].shape:
            raise InputError(
                f"{origin}: {name} is {tuple(found.shape)}, by the architecture {tuple(own[name].shape)}; make the "
                "model again"
            )


def _first(names: Sequence[str], most: int = 3) -> str:
    """List some of possibly hundreds of names, for an error."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{list(names[:most])}{more}"


def _own_tensors(network: Translator) -> dict[str, Tensor]:
    """Return the tensors of a network that a folder stores, by name, tied ones once."""
    return {name: value for name, value in network.state_dict().items() if name not in TIED}


def model_hash(path: str | Path) -> str:
    """Return the SHA-256 of a model folder's parameters file, which identifies the model in measurements."""
    return sha256_file(Path(path) / "model.safetensors")


def count_parameters(network: torch.nn.Module) -> int:
    """Count the parameters of a network, tied ones once."""
    return sum(parameter.numel() for parameter in network.parameters())
