"""Students for Firefox, run by its engine if it is installed."""

import os
import shutil
import subprocess
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
from tests.runtime.exports.test_marian_engine import ENGINE, engine
from tests.small_models import TEXT
from weebill.translation.search import greedy


def native(folder: Path) -> list[str]:
    """Return native Bergamot's translations of TEXT."""
    script = Path(__file__).with_name("bergamot_engine.py")
    done = subprocess.run(
        [os.environ["WEEBILL_BERGAMOT"], str(script), str(folder)],
        input="".join(f"{line}\n" for line in TEXT),
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split("\n")[:-1]


ENGINES = [
    pytest.param(
        native,
        marks=pytest.mark.skipif(
            "WEEBILL_BERGAMOT" not in os.environ,
            reason="WEEBILL_BERGAMOT names no Python with the wheel bergamot",
        ),
    ),
    pytest.param(
        engine,
        marks=pytest.mark.skipif(
            not ENGINE.is_dir() or shutil.which("node") is None,
            reason="Marian's engine is not here; `make engines` fetches it from npm",
        ),
    ),
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
    """The engine adds the source's pieces, if both sides share pieces, and others up to a multiple of eight."""
    model, vocabulary, two = student(name), vocabulary_of(name, vocabularies), "two" in name
    lists = shortlist_of(vocabulary, SOURCE_PIECES if two else PIECES)
    write(model, vocabulary, tmp_path / "firefox", lists)
    expected, bias = [], model.output.bias.data.clone()
    for source in vocabulary.source.encode(TEXT):
        columns = {*lists.columns(source).tolist(), *([] if two else source)}
        others = (piece for piece in range(2, PIECES) if piece not in columns)
        columns.update(next(others) for _ in range(-len(columns) % 8))
        absent = [piece for piece in range(PIECES) if piece not in columns]
        model.output.bias.data.copy_(bias)
        model.output.bias.data[absent] = -1e4
        expected += vocabulary.target.decode(greedy([model], [source], OPTIONS))
    check_alike(translate(tmp_path / "firefox"), expected)
