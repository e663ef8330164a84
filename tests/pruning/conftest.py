"""The small experiment, for the tests of this folder."""

from types import SimpleNamespace

import pytest

from tests.small_experiment import experiment, faults, zoo

__all__ = ["experiment", "faults", "zoo"]


@pytest.fixture
def forked_devices(monkeypatch):
    """Let trainings on two devices be forks; `test_pruning_study.py` lets Lightning start the processes."""
    from tests.translation.training.two_devices import forked  # imports Lightning

    module = "weebill.translation.training.pruning_study.subprocess"
    monkeypatch.setattr(module, SimpleNamespace(run=forked))
