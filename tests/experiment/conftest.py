"""The small experiment for the tests of this folder."""

from tests.small_experiment import experiment, faults, zoo

__all__ = ["experiment", "faults", "zoo"]
