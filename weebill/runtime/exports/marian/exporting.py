"""Export to a folder for `marian-decoder -c config.yml`."""

import shutil
from pathlib import Path

import yaml

from weebill.files import atomic_folder
from weebill.runtime.exports.marian import shortlists
from weebill.runtime.exports.marian.configuration import from_architecture
from weebill.runtime.exports.marian.files import write_bin, write_npz, write_vocabulary
from weebill.runtime.exports.marian.importing import read
from weebill.runtime.exports.marian.names import places
from weebill.runtime.exports.marian.padding import even_shape, padded
from weebill.runtime.exports.verification import same_tensors
from weebill.runtime.exports.weights import in_float32
from weebill.runtime.shortlist import Shortlist
from weebill.translation.model.network import Translator
from weebill.translation.model.vocabulary import Vocabulary


def export(
    network: Translator,
    vocabulary: Vocabulary,
    folder: str | Path,
    shortlist: Shortlist | None = None,
    pad: bool = False,
) -> None:
    """Write model.npz, the same as model.bin, the vocabulary, config.yml and the shortlist, atomically.

    Exports contain float32 weights, whatever their grid.  pad: fill pruned layers up with zeros, see `padding`.
    The written files are read again and compared before the folder appears.
    Raises InputError where Marian cannot hold the student's shape.
    """
    shape = even_shape(network.architecture, pad)
    weights = dict(in_float32(network).named_parameters())
    arrays, theirs = {}, {}
    for place in places(shape):
        array = padded(weights[place.weebill].detach().numpy(), place.weebill_shape)
        arrays[place.weebill], theirs[place.marian] = array, place.to_marian(array)
    options = from_architecture(shape)
    pieces = vocabulary.pieces
    with atomic_folder(folder) as partial:
        write_npz(partial / "model.npz", theirs, options)
        write_bin(partial / "model.bin", theirs, options)
        same_tensors(read(partial / "model.npz")[1], arrays, folder)
        write_vocabulary(partial / "vocab.yml", pieces)
        shutil.copyfile(vocabulary.path, partial / "vocab.spm")
        decoding = {
            "relative-paths": True,
            "models": ["model.npz"],
            "vocabs": ["vocab.spm", "vocab.spm"],
            "beam-size": 1,
            "normalize": 1.0,
            "skip-cost": True,
        }
        if shortlist is not None:
            longest = shortlists.write_text(partial / "lex.s2t", shortlist, pieces)
            shortlists.write_binary(partial / "lex.bin", shortlist)
            decoding["shortlist"] = ["lex.s2t", shortlists.FIRST, longest, 0]
        text = yaml.safe_dump(decoding, sort_keys=False)
        (partial / "config.yml").write_text(text, encoding="utf-8")
