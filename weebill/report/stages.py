"""Stages of an experiment; the report shows the time of their jobs."""

from collections.abc import Iterable, Mapping

# Kind of experiment → stage → files of rules/KIND/ without ending; some stages are named like sections of the report.
STAGES = {
    "translation": {
        "Corpora": ("origins", "corpus", "scores", "bicleaner", "vocabulary"),
        "Teacher": ("teacher", "reverse", "back_translate", "published"),
        "Distillation": ("distil", "augment", "align", "shortlist"),
        "Students": ("student", "cleaning_students"),
        "Pruning": ("prune",),
        "Quantization": ("quantize", "export"),
        "Evaluation": ("evaluate", "comet"),
    },
    "metric": {
        "Encoders": ("encoder",),
        "Reference": ("origins", "reference"),
        "Pruning": ("prune",),
        "Distillation": ("distil",),
        "Agreement": ("evaluate", "robustness", "other_metrics"),
    },
    "generation": {
        "Text and first models": ("origins", "models"),
        "Steps": ("steps",),
        "Evaluation": ("evaluate",),
    },
}


def stages_of(kind: str, rules: Mapping[str, Iterable[str]]) -> list[tuple[str, list[str]]]:
    """Return the stages of an experiment that have rules, each with its rules.  rules: names of rules by file."""
    found = [
        (stage, [name for file in files for name in rules.get(file, [])])
        for stage, files in STAGES[kind].items()
    ]
    return [(stage, names) for stage, names in found if names]
