"""Fixtures: the small experiment, and forks in place of Lightning's processes."""

from types import SimpleNamespace

import pytest

from tests.small_experiment import experiment, faults, zoo

__all__ = ["experiment", "faults", "zoo"]


@pytest.fixture
def forked_devices(monkeypatch):
    """Run trainings on two devices in forks; in `test_pruning_study.py`, Lightning starts the processes."""
    from tests.translation.training.two_devices import forked  # imports Lightning

    module = "weebill.translation.training.pruning_study.subprocess"
    monkeypatch.setattr(module, SimpleNamespace(run=forked))
