"""Convert a student for another engine: CTranslate2, Marian, Firefox and Bergamot's other translators, or ONNX."""

import argparse
from pathlib import Path

from weebill.errors import InputError
from weebill.files import check_plain


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("model", metavar="MODEL", help="a model folder")
    add("folder", metavar="FOLDER", help="the folder to make")
    add("--to", required=True, metavar="FORMAT", help="ctranslate2, marian, firefox or onnx")
    add("--shortlist", metavar="FILE", help="shortlist to write beside the model (not onnx)")
    add("--quantization", metavar="NAME",
        help="type of the weights: int8 (default), float32, int16, … (ctranslate2)")  # fmt: skip
    add("--pad", action="store_true",
        help="fill pruned layers with zeros if all must have one shape (marian, firefox)")  # fmt: skip
    add("--languages", nargs=2, metavar=("SOURCE", "TARGET"),
        help="codes for the names of the files, if the vocabulary records no languages (firefox)")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Convert.  Raises InputError if the model cannot be read or converted, or the folder exists already."""
    new_folder(arguments.folder)
    from weebill.runtime.exports.formats import convert
    from weebill.translation.model.packed_folder import load_any_model
    from weebill_runtime.shortlist import Shortlist

    model, shortlist = load_any_model(arguments.model), arguments.shortlist
    if shortlist is not None:
        check_plain(shortlist)
        vocabulary = model.vocabulary
        shortlist = Shortlist.load(shortlist, vocabulary.sizes, vocabulary.sha256)
    settings = shortlist, arguments.quantization, arguments.pad, arguments.languages
    convert(model, arguments.to, arguments.folder, *settings)
    names = sorted(path.name for path in Path(arguments.folder).iterdir())
    print(f"{arguments.folder}: {', '.join(names)}")
    return 0


def new_folder(path: str) -> None:
    """Raise InputError if `path` exists, because the result would replace it."""
    if Path(path).exists():
        raise InputError(f"{path}: is there already; name a new folder, or remove it first")
