"""Names of public texts in a configuration, and the places where the workflow makes the texts."""

from pathlib import Path

PREFIX = "origin:"
FOLDER = Path("data/origins")  # below the workflow's folder; experiments share it


def is_made(path: str | Path) -> bool:
    """Return True if the workflow makes the file at this path from its origin."""
    return Path(path).is_relative_to(FOLDER)


def name_of(path: str | Path) -> str:
    """Return the name of the public text that the workflow makes at this path."""
    return Path(path).relative_to(FOLDER).as_posix()
