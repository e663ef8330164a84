"""Disk space of a model that generates text."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weebill.evaluation.measurement import model_sha256, stored_numbers
from weebill.files import MIB, parameter_files, read_json


@dataclass(frozen=True)
class GenerationSize:
    """Sizes of a variant."""

    variant: str
    numbers: dict[str, int]  # by type, in the parameter files; codes of weights are I8, or two a U8
    parameter_bytes: int  # of *.safetensors
    folder_bytes: int  # of all files, including the tokenizer's
    layer_shapes: dict[str, Any] | None  # heads and neurons of each block
    model_sha256: str

    @property
    def mib(self) -> float:
        """MiB of the parameters on disk."""
        return self.parameter_bytes / MIB


def generation_size(variant: str, folder: str | Path) -> GenerationSize:
    """Measure the size of a model folder.  Raises InputError if it holds no parameters."""
    folder = Path(folder)
    return GenerationSize(
        variant=variant,
        numbers=stored_numbers(folder),
        parameter_bytes=sum(path.stat().st_size for path in parameter_files(folder)),
        folder_bytes=sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
        layer_shapes=read_json(folder / "config.json").get("layer_shapes"),
        model_sha256=model_sha256([folder]),
    )
