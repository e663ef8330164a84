"""Names of students: ARCHITECTURE, @TEXT if it learns another training text, ~SEED if it has its own seed."""

import re
from collections.abc import Mapping
from typing import Any

from weebill.experiment.zoo import Zoo

NAME = re.compile(r"(?P<architecture>[^@~]*)(@(?P<text>[^~]*))?(~(?P<seed>.*))?", re.DOTALL)
LARGEST_SEED = 2**32 - 1


def architecture_of(student: str) -> str:
    """Return the zoo entry that a student's name begins with."""
    return NAME.fullmatch(student)["architecture"]


def text_of(student: str) -> str | None:
    """Return the training text that a student names; None if it learns the first one."""
    return NAME.fullmatch(student)["text"] or None


def seed_of(student: str, config: Mapping[str, Any]) -> int:
    """Return the seed of a student's training: its own, or else the experiment's."""
    own = NAME.fullmatch(student)["seed"]
    return config["seed"] if own is None else int(own)


def first_of(student: str) -> str:
    """Return the student with the experiment's seed, which a student with its own seed repeats."""
    return student.partition("~")[0]


def repeats(student: str) -> bool:
    """Return True if a student has a seed of its own."""
    return "~" in student


def with_students(zoo: Zoo, students: list[str]) -> Zoo:
    """Return the zoo with an entry for every student of another text or seed, in the shape of its architecture."""
    known = {
        name: zoo.get(architecture_of(name)) for name in students if architecture_of(name) != name
    }
    unprinted = {
        name: {key: value for key, value in entry.items() if key != "paper"}
        for name, entry in known.items()
        if entry is not None
    }
    return {**zoo, **unprinted}
