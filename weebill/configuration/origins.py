"""Public texts that a configuration names as `origin:NAME`."""

from collections.abc import Mapping
from typing import Any

from weebill.configuration.schema import Fault
from weebill.corpus.origins import catalogue
from weebill.errors import Key, nearest
from weebill.experiment.origins import FOLDER, PREFIX, is_made, name_of


def resolve(config: dict[str, Any], faults: list[Fault]) -> dict[str, Any]:
    """Return a configuration in which each `origin:NAME` is the place where the workflow makes the text.

    Each unknown name becomes a fault, and so does a definition of a public text's name.  The user's own files cannot
    be in the folder of these places.
    """
    own = config["origins"] if isinstance(config["origins"], dict) else {}  # else a fault already
    for name in own.keys() & catalogue().keys() if own else ():
        faults.append(Fault(("origins", name), "is the name of a public text, expected another"))
    return _resolved(config, own, faults)


def _resolved(values: Any, own: Mapping[str, Any], faults: list[Fault], *path: Key) -> Any:
    if isinstance(values, dict):
        return {k: _resolved(one, own, faults, *path, k) for k, one in values.items()}
    if isinstance(values, list):
        return [_resolved(one, own, faults, *path, k) for k, one in enumerate(values)]
    if not isinstance(values, str) or not (values.startswith(PREFIX) or is_made(values)):
        return values
    name = values.removeprefix(PREFIX) if values.startswith(PREFIX) else name_of(values)
    # The catalogue is read here alone: every job of an experiment without public texts would wait for it.
    if name not in own and name not in catalogue():
        expected = (
            "expected a name in `origins`, or a public text that `weebill fetch --list` lists"
        )
        known = [*catalogue(), *own]
        faults.append(Fault(path, f"found {values!r}, {expected}{nearest(name, known)}"))
    return (FOLDER / name).as_posix()
