"""Fixtures: the small experiment, and forks in place of Lightning's processes."""

from types import SimpleNamespace

import pytest

from tests.small_experiment import experiment, faults, zoo

__all__ = ["experiment", "faults", "zoo"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Return the folder of a study, with the checkpoint of its student."""
    from tests.translation.training.test_pruning_study import study_of  # imports Lightning

    folder = tmp_path_factory.mktemp("data")
    study_of(folder)
    return folder


@pytest.fixture
def forked_devices(monkeypatch):
    """Run trainings on two devices in forks; in `test_pruning_study.py`, Lightning starts the processes."""
    from tests.translation.training.two_devices import forked  # imports Lightning

    module = "weebill.translation.training.pruning_study.subprocess"
    monkeypatch.setattr(module, SimpleNamespace(run=forked))
