"""Options inside Marian's models, a text of YAML as a tensor of bytes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from weebill.errors import InputError
from weebill.yaml_files import load_yaml

OPTIONS = "special:model.yml"


def with_options(tensors: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tensors and, last, the options as one of them."""
    text = yaml.safe_dump(dict(options), sort_keys=True).encode() + b"\0"  # a C string
    return {**tensors, OPTIONS: np.frombuffer(text, dtype=np.int8)}


def read_options(tensor: np.ndarray, path: str | Path) -> dict[str, Any]:
    """Return the options of a model.  Raises InputError, which names `path`, if the text holds none."""
    if not isinstance(tensor, np.ndarray):  # integers with a multiplier
        raise InputError(f"{path}: {OPTIONS} is no text; fetch the file again")
    text = tensor.tobytes().rstrip(b"\0")
    try:
        options = load_yaml(text.decode("utf-8"))
    except (ValueError, RecursionError, yaml.YAMLError) as error:  # impossible dates, deep nesting
        raise InputError(f"{path}: {OPTIONS} is not YAML; fetch the file again") from error
    if not isinstance(options, dict):
        raise InputError(f"{path}: {OPTIONS} holds no options; fetch the file again")
    return options
