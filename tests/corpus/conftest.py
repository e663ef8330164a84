"""Small corpora, and a server of files."""

import unicodedata

import pyarrow as pa
import pytest

from tests.corpus.serving import serving
from weebill.corpus.sources import Places
from weebill.corpus.table import SCHEMA


@pytest.fixture(scope="session")
def lid_176(real_text):
    """Return the path of fastText's identifier of 176 languages."""
    return str(real_text("lid/lid.176.ftz"))


@pytest.fixture(scope="session")
def fold():
    """Return a function that folds one line, one character at a time."""

    def folded(text: str) -> str:
        result = gap = ""
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        for character in text:
            if character.isdecimal():
                character = str(unicodedata.decimal(character))
            if unicodedata.category(character)[0] in "PZC" or character == "ـ":
                gap += character
                continue
            if result[-1:].isdecimal() and character.isdecimal():
                result += gap
            result, gap = result + character, ""
        return result

    return folded


@pytest.fixture
def as_table():
    """Return a function that makes an imported table of pairs (source or None, target or None)."""

    def make(pairs, noise=None, dropped=None) -> pa.Table:
        columns = {
            "source": [pair[0] for pair in pairs],
            "target": [pair[1] for pair in pairs],
            "corpus": ["test"] * len(pairs),
            "row": range(len(pairs)),
            "dropped_by": dropped or [None] * len(pairs),
        }
        if noise is None:
            return pa.table(columns, schema=SCHEMA)
        schema = SCHEMA.append(pa.field("noise", pa.string()))
        return pa.table({**columns, "noise": noise}, schema=schema)

    return make


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Serve files (tests.corpus.serving) to an empty cache; downloads are retried without delay."""
    monkeypatch.setenv("WEEBILL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("weebill.corpus.download.PAUSE_S", 0)
    with serving() as one:
        yield one


@pytest.fixture
def places(tmp_path):
    """Return the places of a machine with its own cache and without a folder of files."""
    return Places(cache=str(tmp_path / "cache"))
