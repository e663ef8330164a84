"""Import of students that Marian trained, as model folders for pruning, quantization and measurement."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from weebill.errors import InputError
from weebill.experiment.shapes import Architecture
from weebill.files import sha256_file
from weebill.model_lineage import versions
from weebill.runtime.exports.marian.configuration import to_architecture
from weebill.runtime.exports.marian.files import read_npz
from weebill.runtime.exports.marian.names import Place, places
from weebill.translation.model.folder import load_tensors, save_model
from weebill.translation.model.network import Translator
from weebill.translation.model.vocabulary import Vocabulary

# Activation scales of Marian's 8-bit products; our calibration makes them anew.
SCALES = "_QuantMultA"


def read(path: str | Path) -> tuple[Architecture, dict[str, np.ndarray]]:
    """Read the architecture of a Marian .npz and its tensors, with our names and shapes, in float32.

    Raises InputError where it is no model, not of our kind, or tensors are missing, unknown or misshapen.
    """
    path = Path(path)
    arrays, options = read_npz(path)
    shape = to_architecture(options, str(path))
    arrays = {name: array for name, array in arrays.items() if not name.endswith(SCALES)}
    wanted = {place.marian: place for place in places(shape)}
    _check(arrays, wanted, path)
    return shape, {place.weebill: place.to_weebill(arrays[name]) for name, place in wanted.items()}


def import_model(path: str | Path, vocabulary: str | Path, folder: str | Path) -> None:
    """Write a published student as a model folder, atomically.

    path: the student's .npz.  vocabulary: its SentencePiece model, for both languages.
    Raises InputError as `read` does, and where the vocabulary is not of our kind or of another size.
    """
    shape, arrays = read(path)
    pieces = Vocabulary(vocabulary)
    if len(pieces) != shape.vocabulary:
        raise InputError(
            f"{vocabulary}: has {len(pieces)} pieces, {path} was trained with {shape.vocabulary}; "
            "name the vocabulary that was published with the model"
        )
    network = Translator(shape).eval()
    load_tensors(network, {name: torch.from_numpy(array) for name, array in arrays.items()}, path)
    lineage = {
        "kind": "imported from Marian",
        "model": {"name": Path(path).name, "sha256": sha256_file(path)},
        "versions": versions(),
    }
    save_model(folder, network, pieces, lineage)


def _check(arrays: Mapping[str, np.ndarray], wanted: Mapping[str, Place], path: Path) -> None:
    missing = [name for name in wanted if name not in arrays]
    foreign = [name for name in arrays if name not in wanted]
    faults = [f"{path}: no tensor {name}; its options say there is one" for name in missing]
    faults += [f"{path}: tensor {name} is in none of Weebill's networks" for name in foreign]
    for name, place in wanted.items():
        found = arrays.get(name)
        if found is not None and found.dtype != np.float32:
            faults.append(f"{path}: {name} is {found.dtype}; take the float32 model")
        elif found is not None and found.shape != place.shape:
            faults.append(f"{path}: {name} is {found.shape}, by the model's options {place.shape}")
    if faults:
        raise InputError("\n".join(faults))
