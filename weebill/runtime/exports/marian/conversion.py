"""Export to and import from Marian: its `transformer` type with SSRU or self-attention decoders.

Exports are folders for `marian-decoder -c config.yml`; `firefox` makes those for browsers.  Imports become model
folders for pruning, quantization and measurement, or for translation with the integers of a file.  Marian's LayerNorm
adds 1e-6 to the variance, ours 1e-5, so figures in float32 differ in the sixth digit where values are of order 1; all
else is the same arithmetic.
"""

from pathlib import Path

import numpy as np
import torch
import yaml
from torch import Tensor

from weebill.errors import InputError
from weebill.files import atomic_folder, sha256_file
from weebill.model_lineage import versions
from weebill.quantization.files import section
from weebill.quantization.modules import quantizable_linears, quantize_model
from weebill.runtime.exports.input_note import copy_with_note
from weebill.runtime.exports.marian import configuration, files, shortlists
from weebill.runtime.exports.marian.binary import SCALES, Codes, decoded, write_bin
from weebill.runtime.exports.marian.student import Student
from weebill.runtime.exports.verification import in_float32, same_tensors
from weebill.translation.model.folder import load_tensors
from weebill.translation.model.network import Translator
from weebill.translation.model.packed_folder import save_any_model
from weebill_runtime.architecture import Architecture
from weebill_runtime.shortlist import Shortlist
from weebill_runtime.vocabulary import AnyVocabulary, read_vocabulary


def export(
    network: Translator,
    vocabulary: AnyVocabulary,
    folder: str | Path,
    shortlist: Shortlist | None = None,
    pad: bool = False,
) -> None:
    """Write model.npz, the same as model.bin, the vocabularies, config.yml and the shortlist, atomically.

    Exports contain float32 weights, whatever their grid.  pad: fill pruned layers up with zeros, see `configuration`.
    The written files are read again and compared before the folder appears.
    Raises InputError if Marian cannot hold the student's shape.
    """
    shape = configuration.even_shape(network.architecture, pad)
    weights = dict(in_float32(network).named_parameters())
    arrays, theirs = {}, {}
    for place in configuration.places(shape):
        array = place.filled(weights[place.weebill].detach().numpy())
        arrays[place.weebill], theirs[place.marian] = array, place.to_marian(array)
    options = configuration.from_architecture(shape)
    with atomic_folder(folder) as partial:
        files.write_npz(partial / "model.npz", theirs, options)
        write_bin(partial / "model.bin", theirs, options)
        same_tensors(read(partial / "model.npz")[1], arrays, folder)
        for name, side in vocabulary.files.items():
            files.write_vocabulary((partial / name).with_suffix(".yml"), side.pieces)
        copy_with_note(vocabulary, partial)
        target, *source = vocabulary.files
        files_used = {"models": ["model.npz"], "vocabs": [*(source or [target]), target]}
        search = {"beam-size": 1, "normalize": 1.0, "skip-cost": True}
        decoding = {"relative-paths": True, **files_used, **search}
        if shortlist is not None:
            pieces = vocabulary.source.pieces, vocabulary.target.pieces
            longest = shortlists.write_shortlist_text(partial / "lex.s2t", shortlist, *pieces)
            shortlists.write_shortlist(partial / "lex.bin", shortlist)
            decoding["shortlist"] = ["lex.s2t", shortlists.FIRST, longest, 0]
        text = yaml.safe_dump(decoding, sort_keys=False)
        (partial / "config.yml").write_text(text, encoding="utf-8")


def read(path: str | Path) -> tuple[Architecture, dict[str, np.ndarray]]:
    """Return architecture and tensors of a model in float32; raise the errors of `read_student`."""
    student = read_student(path)
    return student.shape, decoded(student.tensors)


def read_student(path: str | Path) -> Student:
    """Read a Marian .npz or binary model.  Raises InputError if it is damaged, or our networks cannot hold it."""
    path = Path(path)
    found, options = files.read_model(path)
    shape = configuration.to_architecture(options, str(path))
    wanted = {place.marian: place for place in configuration.places(shape)}
    tensors = {name: tensor for name, tensor in found.items() if not name.endswith(SCALES)}
    faults = [f"no tensor {name}; its options say there is one" for name in wanted.keys() - tensors]
    foreign = [name for name in tensors if name not in wanted]
    faults += [f"tensor {name} is in none of Weebill's networks" for name in foreign]
    ours: dict[str, np.ndarray | Codes] = {}
    for name in wanted.keys() & tensors:
        place, tensor = wanted[name], tensors[name]
        integers = isinstance(tensor, Codes) and place.layout != "row"
        numbers = tensor.integers if isinstance(tensor, Codes) else tensor
        if not integers and numbers.dtype != np.float32:
            faults.append(f"{name} is {numbers.dtype}; take the float32 model")
        elif numbers.shape != place.shape:
            faults.append(f"{name} is {numbers.shape}, by the model's options {place.shape}")
        else:
            numbers = place.to_weebill(numbers)
            ours[place.weebill] = Codes(numbers, tensor.multiplier) if integers else numbers
    scales = {}
    for theirs, name in configuration.linear_maps(shape):
        if (scale := found.get(theirs + SCALES)) is not None:
            if scale.dtype.kind not in "fiu" or scale.size != 1 or not 0 < scale.item() < np.inf:
                faults.append(f"{theirs + SCALES} is no number above 0; fetch the file again")
            else:
                scales[name] = float(scale.item())
    if faults:
        raise InputError("\n".join(f"{path}: {fault}" for fault in sorted(faults)))
    return Student(shape, ours, scales)


def import_model(
    path: str | Path,
    vocabulary: str | Path,
    folder: str | Path,
    source_vocabulary: str | Path | None = None,
    int8: bool = False,
) -> None:
    """Write a published student, with its SentencePiece models, as a model folder.

    vocabulary: of both languages or, with source_vocabulary, of the target.  int8: keep the integers and the
    activation scales of a file for Firefox; otherwise the folder has float32 weights.
    Raises the errors of `read`, and InputError if a vocabulary is missing, of another kind or another size, or if
    int8 is set but the file has no integers or activation scales.
    """
    student = read_student(path)
    shape = student.shape
    if (shape.source_vocabulary is None) != (source_vocabulary is None):
        remedy = (
            "name only" if source_vocabulary else "name the source's by --source-vocabulary, and"
        )
        number = "one vocabulary" if source_vocabulary else "two vocabularies"
        raise InputError(
            f"{path}: was trained with {number}; {remedy} that of the target by --vocabulary"
        )
    pieces = read_vocabulary(vocabulary, source_vocabulary)
    for side, size in ((pieces.target, shape.vocabulary), (pieces.source, shape.source_pieces)):
        if len(side) != size:
            raise InputError(
                f"{side.path}: has {len(side)} pieces, {path} was trained with {size}; "
                "name the vocabulary that was published with the model"
            )
    network = Translator(shape).eval()
    tensors = _on_the_grid(network, student, path) if int8 else _in_float32(student)
    load_tensors(network, tensors, path)
    network.guided = any(isinstance(one, Codes) for one in student.tensors.values())  # Firefox's
    lineage = {
        "kind": "imported from Marian",
        "model": {"name": Path(path).name, "sha256": sha256_file(path)},
        "versions": versions(),
    }
    save_any_model(folder, network, pieces, lineage, section("int8", "imported") if int8 else None)


def _in_float32(student: Student) -> dict[str, Tensor]:
    return {name: torch.from_numpy(one) for name, one in decoded(student.tensors).items()}


def _on_the_grid(network: Translator, student: Student, path: str | Path) -> dict[str, Tensor]:
    """Make the network's layers hold integers; return the tensors to load into them."""
    remedy = "import it without --int8, and quantize the folder"
    for name, tensor in student.tensors.items():
        if not isinstance(tensor, Codes) and tensor.ndim == 2:
            raise InputError(f"{path}: its weights are float32, such as {name}; {remedy}")
    scales = student.scales
    if missing := [name for name, _ in quantizable_linears(network) if name not in scales]:
        raise InputError(f"{path}: no activation scale ({SCALES}) of {missing[0]}; {remedy}")
    student = student.from_marian()
    scales = student.scales
    quantize_model(network, "int8", scales, mode="empty")
    tensors = {f"{name}.activation_scale": torch.tensor(scale) for name, scale in scales.items()}
    for name, tensor in student.tensors.items():
        if isinstance(tensor, Codes):
            weight = name.removesuffix("weight") + "quantized"
            tensors[f"{weight}.codes"] = torch.from_numpy(tensor.integers)
            tensors[f"{weight}.scale"] = torch.tensor(tensor.multiplier)
        else:
            tensors[name] = torch.from_numpy(tensor)
    return tensors
