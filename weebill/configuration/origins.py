"""Public texts that a configuration names as `origin:NAME`."""

from typing import Any

from weebill.configuration.schema import Fault
from weebill.corpus.origins import catalogue
from weebill.errors import Key, nearest
from weebill.experiment.origins import FOLDER, PREFIX


def resolve(values: Any, faults: list[Fault], path: tuple[Key, ...] = ()) -> Any:
    """Return nested values in which each `origin:NAME` is the place where the workflow makes the text.

    Each unknown name becomes a fault.
    """
    if isinstance(values, dict):
        return {key: resolve(value, faults, (*path, key)) for key, value in values.items()}
    if isinstance(values, list):
        return [resolve(value, faults, (*path, index)) for index, value in enumerate(values)]
    if not isinstance(values, str) or not values.startswith(PREFIX):
        return values
    name = values.removeprefix(PREFIX)
    if name not in catalogue():
        expected = "expected a public text that `weebill fetch --list` lists"
        faults.append(Fault(path, f"found {values!r}, {expected}{nearest(name, catalogue())}"))
    return (FOLDER / name).as_posix()
