"""Loading of translators from model folders of Weebill or Hugging Face, one model or an ensemble."""

from collections.abc import Iterable
from pathlib import Path

from weebill.errors import InputError
from weebill.hugging_face.recognition import is_hugging_face
from weebill.translation.model.folder import Model
from weebill.translation.model.packed_folder import load_any_model
from weebill.translation.running import ready
from weebill.translation.translator import NetworkTranslator
from weebill_runtime.folder import check_vocabularies
from weebill_runtime.text_translator import TextTranslator


def load_translator(
    folders: str | Path | Iterable[str | Path],
    device: str = "cpu",
    languages: tuple[str, str] | None = None,
    precision: str = "float32",
) -> TextTranslator:
    """Load the translator of one model folder, or of an ensemble of several with equal vocabularies.

    A folder holds a Weebill model of any precision, or a Hugging Face seq2seq model (alone, not in an ensemble).
    languages: input and output language, for multilingual Hugging Face models.  precision: as in `running.ready`.
    Raises InputError if a folder is not a valid model, or vocabularies differ; ValueError if `folders` is empty.
    """
    paths = _paths(folders)
    foreign = [path for path in paths if is_hugging_face(path)]
    if foreign and len(paths) > 1:
        message = f"{foreign[0]}: a Hugging Face model cannot be part of an ensemble; name it alone"
        raise InputError(message)
    if foreign:
        from weebill.translation.hugging_face_translator import HuggingFaceTranslator  # slow

        return HuggingFaceTranslator(foreign[0], device, languages, precision)
    models = load_models(paths)
    networks = [ready(model.network, device, precision) for model in models]
    return NetworkTranslator(networks, models[0].vocabulary)


def load_models(folders: str | Path | Iterable[str | Path]) -> list[Model]:
    """Load one or several Weebill models, as of an ensemble.  Raises the errors of `load_translator`."""
    models = [load_any_model(path) for path in _paths(folders)]
    check_vocabularies(models)
    return models


def _paths(folders: str | Path | Iterable[str | Path]) -> list[Path]:
    paths = [Path(folders)] if isinstance(folders, str | Path) else [Path(f) for f in folders]
    if not paths:
        raise ValueError("at least one model folder is needed")
    return paths
