"""Experiments described in YAML: read, checked as a whole, completed with defaults.

`load` reads and checks a file; the workflow, which has read it already, calls `check`.  Both hand on one
complete dictionary of the shape that config/schema/experiment.schema.yaml defines.
"""

from goldcrest.configuration.checking import ConfigurationError, check, load
from goldcrest.configuration.resources import (
    estimate_disk,
    missing_files,
    search_memory,
    training_memory,
    vocabulary_memory,
)
from goldcrest.configuration.variants import expand_variants
from goldcrest.configuration.zoo import MODELS, load_zoo, member_of, members

__all__ = [
    "MODELS",
    "ConfigurationError",
    "check",
    "estimate_disk",
    "expand_variants",
    "load",
    "load_zoo",
    "member_of",
    "members",
    "missing_files",
    "search_memory",
    "training_memory",
    "vocabulary_memory",
]
