"""Export to and import from Marian: its `transformer` type with SSRU or self-attention decoders.

Exports are folders for `marian-decoder -c config.yml`.  Imports become model folders for pruning, quantization and
measurement.  Marian's LayerNorm adds 1e-6 to the variance, ours 1e-5, so figures differ in the sixth digit where
values are of order 1; all else is the same arithmetic.
"""

from pathlib import Path

import numpy as np
import torch
import yaml

from weebill.errors import InputError
from weebill.files import atomic_folder, sha256_file
from weebill.model_lineage import versions
from weebill.runtime.exports.input_note import copy_with_note
from weebill.runtime.exports.marian import configuration, files
from weebill.runtime.exports.verification import in_float32, same_tensors
from weebill.translation.model.folder import load_tensors, save_model
from weebill.translation.model.network import Translator
from weebill_runtime.architecture import Architecture
from weebill_runtime.shortlist import Shortlist
from weebill_runtime.vocabulary import AnyVocabulary, read_vocabulary

# Activation scales of Marian's 8-bit products; our calibration makes them anew.
SCALES = "_QuantMultA"


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
        array = weights[place.weebill].detach().numpy()
        sizes = zip(array.shape, place.weebill_shape, strict=True)
        array = np.pad(array, [(0, after - now) for now, after in sizes])
        arrays[place.weebill], theirs[place.marian] = array, place.to_marian(array)
    options = configuration.from_architecture(shape)
    with atomic_folder(folder) as partial:
        files.write_npz(partial / "model.npz", theirs, options)
        files.write_bin(partial / "model.bin", theirs, options)
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
            longest = files.write_shortlist_text(partial / "lex.s2t", shortlist, *pieces)
            files.write_shortlist(partial / "lex.bin", shortlist)
            decoding["shortlist"] = ["lex.s2t", files.FIRST, longest, 0]
        text = yaml.safe_dump(decoding, sort_keys=False)
        (partial / "config.yml").write_text(text, encoding="utf-8")


def read(path: str | Path) -> tuple[Architecture, dict[str, np.ndarray]]:
    """Read architecture and tensors of a Marian .npz, with our names and shapes.  Raises InputError if not ours."""
    path = Path(path)
    arrays, options = files.read_npz(path)
    shape = configuration.to_architecture(options, str(path))
    arrays = {name: array for name, array in arrays.items() if not name.endswith(SCALES)}
    wanted = {place.marian: place for place in configuration.places(shape)}
    missing = [name for name in wanted if name not in arrays]
    faults = [f"{path}: no tensor {name}; its options say there is one" for name in missing]
    foreign = [name for name in arrays if name not in wanted]
    faults += [f"{path}: tensor {name} is in none of Weebill's networks" for name in foreign]
    for name, place in wanted.items():
        found = arrays.get(name)
        if found is not None and found.dtype != np.float32:
            faults.append(f"{path}: {name} is {found.dtype}; take the float32 model")
        elif found is not None and found.shape != place.shape:
            faults.append(f"{path}: {name} is {found.shape}, by the model's options {place.shape}")
    if faults:
        raise InputError("\n".join(faults))
    return shape, {place.weebill: place.to_weebill(arrays[name]) for name, place in wanted.items()}


def import_model(
    path: str | Path,
    vocabulary: str | Path,
    folder: str | Path,
    source_vocabulary: str | Path | None = None,
) -> None:
    """Write a published student, an .npz with its SentencePiece models, as a model folder.

    vocabulary: of both languages or, beside source_vocabulary, of the target.
    Raises InputError as `read` does, and if a vocabulary is missing, not of our kind, or of another size.
    """
    shape, arrays = read(path)
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
    load_tensors(network, {name: torch.from_numpy(array) for name, array in arrays.items()}, path)
    lineage = {
        "kind": "imported from Marian",
        "model": {"name": Path(path).name, "sha256": sha256_file(path)},
        "versions": versions(),
    }
    save_model(folder, network, pieces, lineage)
