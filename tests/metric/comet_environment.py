"""Location of unbabel-comet's environment, for the tests that run it."""

from pathlib import Path

import pytest

COMET = Path(__file__).parents[2] / ".venvs/comet/bin/python"


def need_comet() -> None:
    """Skip a test if the environment is not installed."""
    if not COMET.is_file():
        pytest.skip(
            f"unbabel-comet's environment is not here; envs/install.sh comet {COMET.parents[1]}"
        )
