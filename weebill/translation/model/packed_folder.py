"""Model folders of any precision; `weebill.quantization` writes and reads weights packed on a grid.

Trainings use only `folder`, which knows float32, so that they do not depend on the grids' code.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weebill.quantization import files
from weebill.translation.model.folder import Model, load_model, save_model
from weebill.translation.model.network import Translator
from weebill.translation.model.vocabulary import Vocabulary


def save_any_model(
    path: str | Path,
    network: Translator,
    vocabulary: Vocabulary,
    lineage: Mapping[str, Any],
    quantization: Mapping[str, Any] | None,
) -> None:
    """Write a model folder.  quantization: the section that describes packed layers, None for float32.

    Raises InputError as `save_model` does.
    """
    save_model(path, network, vocabulary, lineage, quantization, files)


def load_any_model(path: str | Path, dropout: float = 0.0) -> Model:
    """Read a model folder of any precision.  Raises InputError as `load_model` does."""
    return load_model(path, dropout, files)
