"""Where unbabel-comet's own environment is, for the tests that ask it."""

from pathlib import Path

import pytest

COMET = Path(__file__).parents[2] / ".venvs/comet/bin/python"


def need_comet() -> None:
    """Skip a test where the environment is not here."""
    if not COMET.is_file():
        pytest.skip(
            f"unbabel-comet's environment is not here; envs/install.sh comet {COMET.parents[1]}"
        )
