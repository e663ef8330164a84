"""Students for Firefox, run by its engine if it is installed."""

import os
from pathlib import Path

import pytest

from tests.runtime.exports.firefox_students import (
    OPTIONS,
    PIECES,
    SOURCE_PIECES,
    STUDENTS,
    shortlist_of,
    student,
    vocabulary_of,
    write,
)
from tests.runtime.exports.students import greedy_by_shortlist
from tests.runtime.exports.test_marian_engine import NEEDS_ENGINE, engine, translated_by
from tests.small_models import TEXT
from weebill.translation.search import greedy


def native(folder: Path) -> list[str]:
    """Return native Bergamot's translations of TEXT."""
    script = Path(__file__).with_name("bergamot_engine.py")
    return translated_by(os.environ["WEEBILL_BERGAMOT"], script, folder)


ENGINES = [
    pytest.param(
        native,
        marks=pytest.mark.skipif(
            "WEEBILL_BERGAMOT" not in os.environ,
            reason="WEEBILL_BERGAMOT names no Python with the wheel bergamot",
        ),
    ),
    pytest.param(engine, marks=NEEDS_ENGINE),
]


def check_alike(found: list[str], expected: list[str]) -> None:
    """Check that the texts begin alike, with at most one exception.

    Different float rounding may change an integer, which decides near ties, and then all later pieces.
    """
    alike = [one[:6] == other[:6] for one, other in zip(found, expected, strict=True)]
    assert sum(alike) >= len(TEXT) - 1 and len({*expected}) > 1


@pytest.mark.parametrize("translate", ENGINES)
@pytest.mark.parametrize("name", STUDENTS)
def test_bergamot_translates_alike(tmp_path, vocabularies, name, translate):
    model, vocabulary = student(name), vocabulary_of(name, vocabularies)
    write(model, vocabulary, tmp_path / "firefox")
    found = greedy([model], vocabulary.source.encode(TEXT), OPTIONS)
    check_alike(translate(tmp_path / "firefox"), vocabulary.target.decode(found))


@pytest.mark.parametrize("translate", ENGINES)
@pytest.mark.parametrize("name", ["ssru, untied", "ssru, two vocabularies"])
def test_bergamot_uses_the_shortlist(tmp_path, vocabularies, name, translate):
    model, vocabulary = student(name), vocabulary_of(name, vocabularies)
    lists = shortlist_of(vocabulary, SOURCE_PIECES if "two" in name else PIECES)
    write(model, vocabulary, tmp_path / "firefox", lists)
    expected = list(greedy_by_shortlist(model, vocabulary, lists, OPTIONS))
    check_alike(translate(tmp_path / "firefox"), expected)
