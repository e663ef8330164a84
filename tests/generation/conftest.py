"""Small generators with their training text, made once for all tests of generation."""

from pathlib import Path

import pytest

from tests.generation.small import make, news, running_text


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> dict[str, tuple[Path, Path]]:
    """Return a model and its data for each architecture."""
    folder = tmp_path_factory.mktemp("made")
    data = {"bart": news(folder), "gpt2": running_text(folder)}
    return {name: (make(folder, name, text), text) for name, text in data.items()}
