"""Translation models as folders: config.json, model.safetensors, vocab.spm, and source.spm if there are two.

`weebill_runtime.folder` describes their content, and reads them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from weebill.errors import InputError, placed
from weebill.files import WEIGHTS, atomic_folder, check_plain, read_json, sha256_file, write_json
from weebill.replaceable import FolderKind, check_replaceable, has_format
from weebill.translation.model.network import Translator
from weebill_runtime.folder import FORMAT, READABLE, read_folder
from weebill_runtime.names import SOURCE_FILE, TARGET_FILE
from weebill_runtime.vocabulary import AnyVocabulary, copy_vocabulary
from weebill_runtime.weights import check_tensors

KIND = FolderKind(
    always=("config.json", WEIGHTS, TARGET_FILE),
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

    quantization: the section that describes a network of packed layers; packing must then be
    `weebill.quantization.files`.  Raises InputError if the write would replace anything but a model folder, or the
    float32 model that a packed one was made from.
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
    own = own_tensors(network).items()
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
    if network.guided:
        config["guided_head"] = True
    if vocabulary.normalisation is not None:  # vocab.spm holds it
        config["normalisation"] = vocabulary.normalisation.to_dict()
    if quantization is not None:
        config["quantization"] = dict(quantization)
        tensors = packing.merged(tensors)
    with atomic_folder(path, KIND) as folder:
        save_file(tensors, folder / WEIGHTS)
        (folder / WEIGHTS).chmod(0o644)  # safetensors lets only the owner read it
        copy_vocabulary(vocabulary, folder)
        write_json(folder / "config.json", config)


def load_model(path: str | Path, dropout: float = 0.0, packing: ModuleType | None = None) -> Model:
    """Read a model folder.  dropout: the network's dropout in further training.

    packing: `weebill.quantization.files` if packed weights may be read; trainings read only float32 weights.
    Raises InputError for anything but a valid model folder: a damaged or foreign file, another vocabulary, NaN.
    """
    check_plain(path)
    found = read_folder(path)
    section = found.config.get("quantization")
    if section is not None and packing is None:
        message = f"{path}: its weights are on a grid; name the float32 model it was made of"
        raise InputError(message)
    network = Translator(found.weights.architecture, dropout)
    network.guided = bool(found.config.get("guided_head"))
    if section is not None:
        packing.apply(network, section)
    tensors = {name: torch.from_numpy(one) for name, one in found.weights.tensors.items()}
    network.load_state_dict(tensors, strict=False)  # only tied tensors are missing
    return Model(found.path, network.eval(), found.vocabulary, found.config)


def load_tensors(network: Translator, tensors: Mapping[str, Tensor], origin: str | Path) -> None:
    """Fill a network from stored tensors.  Raises InputError for a missing, unknown, misshapen or infinite one."""
    like = {name: tuple(tensor.shape) for name, tensor in own_tensors(network).items()}
    with placed(origin):
        check_tensors({name: one.numpy() for name, one in tensors.items()}, like, "int8")
    network.load_state_dict(dict(tensors), strict=False)  # only tied tensors are missing


def own_tensors(network: Translator) -> dict[str, Tensor]:
    """Return the tensors of a network that a folder stores, by name, tied ones once."""
    return {name: value for name, value in network.state_dict().items() if name not in TIED}


def model_hash(path: str | Path) -> str:
    """Return the SHA-256 of a model folder's parameters file, which identifies the model in measurements."""
    return sha256_file(Path(path) / WEIGHTS)


def count_parameters(network: torch.nn.Module) -> int:
    """Count the parameters of a network, tied ones once."""
    return sum(parameter.numel() for parameter in network.parameters())
