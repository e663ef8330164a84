"""Experiments described in YAML: read, checked as a whole, completed with defaults.

`read_yaml` reads a file strictly, `check` hands on one complete dictionary of the shape that
config/schema/KIND.schema.yaml defines.
"""

from weebill.configuration.checking import check
from weebill.configuration.errors import ConfigurationError
from weebill.configuration.estimates import Estimate
from weebill.configuration.kinds import estimate, missing_file_notes, missing_files, unfit_models
from weebill.configuration.reading import read_yaml
from weebill.configuration.resources import (
    alignment_memory,
    language_model_memory,
    pretraining_memory,
    scoring_memory,
    search_memory,
    training_memory,
    vocabulary_memory,
)
from weebill.configuration.scores import components, scores_of, section_of
from weebill.configuration.student_names import seed_of, text_of, with_students
from weebill.configuration.teachers import hub_folder, hub_models, languages_of
from weebill.configuration.training_texts import (
    corpora_of,
    other_texts,
    training_texts,
)
from weebill.configuration.variants import expand_exports, expand_variants
from weebill.configuration.zoo import load_zoo, member_of, members

__all__ = [
    "ConfigurationError",
    "Estimate",
    "alignment_memory",
    "check",
    "components",
    "corpora_of",
    "estimate",
    "expand_exports",
    "expand_variants",
    "hub_folder",
    "hub_models",
    "language_model_memory",
    "languages_of",
    "load_zoo",
    "member_of",
    "members",
    "missing_file_notes",
    "missing_files",
    "other_texts",
    "pretraining_memory",
    "read_yaml",
    "scores_of",
    "scoring_memory",
    "search_memory",
    "section_of",
    "seed_of",
    "text_of",
    "training_memory",
    "training_texts",
    "unfit_models",
    "vocabulary_memory",
    "with_students",
]
