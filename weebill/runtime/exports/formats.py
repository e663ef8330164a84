"""Single entry point to all export formats."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from weebill.errors import InputError, nearest
from weebill.runtime.shortlist import Shortlist
from weebill.translation.model.folder import Model

FORMATS = ("ctranslate2", "marian", "onnx")
QUANTIZATIONS = ("float32", "int8", "int8_bfloat16", "int16", "float16", "bfloat16")


@dataclass(frozen=True)
class Settings:
    """Options of an export; each format knows some of them.

    shortlist: written in the format's own way (ctranslate2, marian).  quantization: that of the stored weights,
    one of QUANTIZATIONS, int8 by default (ctranslate2).  pad: fill pruned layers up with zeros (marian).
    """

    shortlist: Shortlist | None = None
    quantization: str | None = None
    pad: bool = False


def convert(model: Model, to: str, folder: str | Path, settings: Settings = Settings()) -> None:
    """Write a student for another engine, atomically, after its weights or scores were compared with ours.

    Raises InputError where the format is unknown, does not know a setting, or cannot hold the student.
    """
    if to not in FORMATS:
        raise InputError(f"no format '{to}'{nearest(to, FORMATS)}; there are {', '.join(FORMATS)}")
    known = {
        "ctranslate2": ("shortlist", "quantization"),
        "marian": ("shortlist", "pad"),
        "onnx": (),
    }
    for name in ("shortlist", "quantization", "pad"):
        if getattr(settings, name) and name not in known[to]:
            raise InputError(f"the format {to} knows no --{name}; leave it out")
    if settings.quantization not in (None, *QUANTIZATIONS):
        hint = nearest(settings.quantization, QUANTIZATIONS)
        raise InputError(f"CTranslate2 has no quantization '{settings.quantization}'{hint}")
    _WRITERS[to](model, Path(folder), settings)


def _ctranslate2(model: Model, folder: Path, settings: Settings) -> None:
    from weebill.runtime.exports.ctranslate2 import export

    pieces, file = model.vocabulary.pieces, model.vocabulary.path
    quantization = settings.quantization or "int8"
    export(model.network, pieces, folder, quantization, settings.shortlist, file)


def _marian(model: Model, folder: Path, settings: Settings) -> None:
    from weebill.runtime.exports.marian import export

    export(model.network, model.vocabulary, folder, settings.shortlist, settings.pad)


def _onnx(model: Model, folder: Path, settings: Settings) -> None:
    from weebill.runtime.exports.onnx import export

    export(model.network, model.vocabulary, folder)


# each format imports its engine, which is slow to load, when it is used
_WRITERS: dict[str, Callable[[Model, Path, Settings], None]] = {
    "ctranslate2": _ctranslate2,
    "marian": _marian,
    "onnx": _onnx,
}
