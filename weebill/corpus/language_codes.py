"""Language codes of ISO 639-1 and 639-3."""

from functools import cache
from pathlib import Path

LANGUAGES = Path(__file__).with_name("iso639.tsv")  # written by importers/mtdata_index.py


@cache
def iso_639_3(code: str) -> str:
    """Return the three-letter code of a language, such as deu for de; an unknown code is returned unchanged."""
    lines = LANGUAGES.read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines).get(code, code)
