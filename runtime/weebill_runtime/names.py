"""Names of the two sides of a translation, and of the vocabularies' files in model folders and exports."""

from typing import Literal

Side = Literal["source", "target"]
SIDES: tuple[Side, ...] = ("source", "target")
TARGET_FILE, SOURCE_FILE = "vocab.spm", "source.spm"
