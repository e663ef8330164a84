"""Files of translations, one per line; separate from the scores, so that their changes repeat no translation."""

from collections.abc import Sequence
from pathlib import Path

from weebill.errors import InputError
from weebill.files import write_text

Lines = Sequence[str]  # a text, one line for each sentence


def check_lines(hypotheses: Lines, references: Lines, name: str) -> None:
    """Raise InputError unless there is one translation per reference."""
    if len(hypotheses) != len(references):
        raise InputError(
            f"{name}: {len(hypotheses):,} translations for {len(references):,} references; "
            "delete the translations and run again"
        )


def write_translations(path: str | Path, translations: Lines, sources: Lines) -> None:
    """Write one translation per line.  Raises InputError if one is missing or contains a line break."""
    check_lines(translations, sources, str(path))
    for number, line in enumerate(translations, start=1):
        if "\n" in line:
            raise InputError(
                f"{path}:{number}: the translation holds a line break; "
                "train the vocabulary on text without line breaks"
            )
    write_text(path, "".join(f"{line}\n" for line in translations))
