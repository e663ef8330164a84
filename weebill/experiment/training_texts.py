"""Training texts of students, each made of kinds of distilled text; STUDENT@TEXT learns one other than the first.

The kinds are WMT21's: `parallel` and `forward` text is the teacher's translation of parallel and of source-side
monolingual text; `backward` is target-side monolingual text with the reverse teacher's translation as its source;
`backward-forward` has that source, and the teacher's translation of it.
"""

from collections.abc import Mapping
from typing import Any

from weebill.experiment.student_names import architecture_of, repeats, text_of

# Value of `use` of the corpora that each kind is made of.
KINDS = {
    "parallel": "parallel",
    "forward": "monolingual",
    "backward": "monolingual-target",
    "backward-forward": "monolingual-target",
}
EVERYTHING = "everything"  # the text of an experiment that configures none


def corpora_of(config: Mapping[str, Any], kind: str) -> list[str]:
    """Return the names of the corpora that a kind of text is made of."""
    return [name for name, corpus in config["corpora"].items() if corpus["use"] == KINDS[kind]]


def training_texts(config: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the kinds of every training text by its name; students that name no text learn the first."""
    every = [kind for kind in KINDS if corpora_of(config, kind)]
    return config["distillation"]["training_texts"] or {EVERYTHING: every}


def learnt_kinds(config: Mapping[str, Any]) -> list[str]:
    """Return the kinds of text that some student learns."""
    wanted = {kind for kinds in training_texts(config).values() for kind in kinds}
    return [kind for kind in KINDS if kind in wanted]


def kinds_made_of(config: Mapping[str, Any], corpus: str) -> list[str]:
    """Return the kinds of text that are made of a corpus, to be learnt or to be translated forward again."""
    wanted = set(learnt_kinds(config))
    if "backward-forward" in wanted or config["teacher"]["back_translated"]:
        wanted.add("backward")
    use = config["corpora"][corpus]["use"]
    return [kind for kind in KINDS if kind in wanted and KINDS[kind] == use]


def other_texts(config: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return, for every student that is trained on several texts, its own name and its names STUDENT@TEXT."""
    students = [name for name in config["students"] if not repeats(name)]
    found = {
        name: [other for other in students if architecture_of(other) == name]
        for name in students
        if text_of(name) is None
    }
    return {name: others for name, others in found.items() if len(others) > 1}
