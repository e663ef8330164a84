"""Single entry point to all export formats."""

from collections.abc import Sequence
from pathlib import Path

from weebill.errors import InputError, nearest
from weebill.translation.model.folder import Model
from weebill_runtime.shortlist import Shortlist

# The settings that each format knows.
FORMATS = {
    "ctranslate2": ("shortlist", "quantization"),
    "marian": ("shortlist", "pad"),
    "firefox": ("shortlist", "pad", "languages"),
    "onnx": (),
}
QUANTIZATIONS = ("float32", "int8", "int8_bfloat16", "int16", "float16", "bfloat16")


def convert(
    model: Model,
    to: str,
    folder: str | Path,
    shortlist: Shortlist | None = None,
    quantization: str | None = None,
    pad: bool = False,
    languages: Sequence[str] | None = None,
) -> None:
    """Write a student for another engine, atomically, after its weights or scores were compared with ours.

    shortlist: written in the format's own way (not onnx).  quantization: that of the stored weights, one of
    QUANTIZATIONS, int8 by default (ctranslate2).  pad: fill pruned layers up with zeros (marian, firefox).
    languages: codes of source and target, if the vocabulary records none (firefox).
    Raises InputError if the format is unknown, does not know a setting, or cannot hold the student.
    """
    if to not in FORMATS:
        raise InputError(f"no format '{to}'{nearest(to, FORMATS)}; there are {', '.join(FORMATS)}")
    settings = {
        "shortlist": shortlist,
        "quantization": quantization,
        "pad": pad,
        "languages": languages,
    }
    for name, value in settings.items():
        if value and name not in FORMATS[to]:
            raise InputError(f"the format {to} knows no --{name}; leave it out")
    if quantization not in (None, *QUANTIZATIONS):
        hint = nearest(quantization, QUANTIZATIONS) or f"; there are {', '.join(QUANTIZATIONS)}"
        raise InputError(f"no quantization '{quantization}' for CTranslate2{hint}")
    network, vocabulary = model.network, model.vocabulary
    # Each format imports its engine, which is slow to load.
    if to == "ctranslate2":
        from weebill.runtime.exports.ctranslate2 import export

        pieces = vocabulary.target.pieces
        export(network, pieces, folder, quantization or "int8", shortlist, vocabulary)
    elif to == "marian":
        from weebill.runtime.exports.marian.conversion import export

        export(network, vocabulary, folder, shortlist, pad)
    elif to == "firefox":
        from weebill.runtime.exports.marian.firefox import export

        export(network, vocabulary, folder, shortlist, pad, languages)
    else:
        from weebill.runtime.exports.onnx.exporting import export

        export(network, vocabulary, folder)
