"""Keys that `weebill rehearse` writes into miniatures of experiments; users may also write them."""

from dataclasses import field

from weebill.configuration.zoo_file import Model
from weebill.settings import FolderName, Name, section


@section
class Rehearsed:
    """Key of every kind of experiment."""

    rehearses: FolderName | None = None
    """Experiment whose miniature this one is. `weebill rehearse` writes this key, and every page says that its
    numbers mean nothing."""


@section
class OwnArchitectures:
    """Key of experiments with models from the zoo."""

    architectures: dict[Name, Model] = field(default_factory=dict)
    """Architectures of this experiment, with the keys of `models.yaml`. Each is added to the entries of
    `models.yaml`, or replaces one."""
