"""Checks of pruning recipes against the training and the students."""

from collections.abc import Iterator
from typing import Any

from weebill.configuration.schema import Fault
from weebill.experiment.searches import is_search
from weebill.experiment.variants import UNPRUNED
from weebill.experiment.zoo import Zoo, members
from weebill.pruning.recipes import made_students, methods_of, shape_of

Config = dict[str, Any]


def recipe_names(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each recipe whose name has another meaning already."""
    for name in config["pruning"]:
        if name == UNPRUNED or is_search(name):
            meaning = "as trained" if name == UNPRUNED else "with this search"
            message = f"found a recipe of this name, expected another: it stands for the student {meaning}"
            yield Fault(("pruning", name), message)


def conflicts(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each recipe whose settings contradict each other, or another recipe."""
    methods = methods_of(config)
    for name, method in methods.items():
        for key, message in method.conflicts(methods):
            yield Fault(("pruning", name, *key), message)


def updates(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each recipe that leaves no updates for the last training."""
    whole = config["training"]["updates"]
    for name, method in methods_of(config).items():
        start = method.reset_to
        if start >= whole:
            yield Fault(
                ("pruning", name, "reset_to"),
                f"found {start}, expected less than training.updates {whole}, which count from the "
                "start",
            )
            continue
        for key, spent in method.phases.items():
            if start + spent >= whole:
                yield Fault(
                    ("pruning", name, key),
                    f"found {spent} after reset_to {start}, expected together less than "
                    f"training.updates {whole}, whose last train what is left",
                )


def amounts(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for blocks, heads, neurons and layers that a student does not have, or cannot lose."""
    methods = methods_of(config)
    for student, name in made_students(config):
        if student not in zoo or len(members(zoo[student])) > 1:  # reported as faults of `students`
            continue
        for key, message in methods[name].faults({student: shape_of(zoo[student])}):
            yield Fault(("pruning", name, *key), message)
