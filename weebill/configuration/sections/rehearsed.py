"""Keys that `weebill rehearse` writes into the miniature of an experiment; users may write them too."""

from dataclasses import field

from weebill.configuration.zoo_file import Model
from weebill.settings import FolderName, Name, section


@section
class Rehearsed:
    """Key of every kind of experiment."""

    rehearses: FolderName | None = None
    """Experiment of which this one is the miniature: `weebill rehearse` writes it, and every page says that its
    numbers mean nothing."""


@section
class OwnArchitectures:
    """Key of experiments whose models are of the zoo."""

    architectures: dict[Name, Model] = field(default_factory=dict)
    """Architectures of this experiment, with the keys of `models.yaml`; each adds an entry to those of `models.yaml`,
    or replaces one."""
