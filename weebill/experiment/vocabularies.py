"""Vocabularies of an experiment: one that both languages share or, for different scripts, one of each language."""

from collections.abc import Mapping
from typing import Any

from weebill_runtime.names import SIDES, SOURCE_FILE, TARGET_FILE


def vocabulary_files(config: Mapping[str, Any]) -> list[str]:
    """Return the files of an experiment's vocabularies: that of both languages, or the target's and the source's."""
    return [TARGET_FILE] if config["vocabulary"]["joint"] else [TARGET_FILE, SOURCE_FILE]


def vocabulary_size(
    config: Mapping[str, Any], entry: Mapping[str, Any], reverse: bool = False
) -> str:
    """Return the size of a zoo model's vocabulary, or SOURCE-TARGET of two, as in the names of folders.

    reverse: the model translates from the target language into the source language.
    """
    section = config["vocabulary"]
    target = section.get("size") or entry["vocabulary"]
    if section["joint"]:
        return str(target)
    sizes = (section.get("source_size") or target, target)
    return "-".join(map(str, reversed(sizes) if reverse else sizes))


def vocabulary_parts(size: str) -> list[tuple[int, tuple[str, ...]]]:
    """Return the pieces and the sides of each file of `vocabulary_files`, from the name of their folder."""
    if "-" not in size:
        return [(int(size), SIDES)]
    source, target = map(int, size.split("-"))
    return [(target, ("target",)), (source, ("source",))]
