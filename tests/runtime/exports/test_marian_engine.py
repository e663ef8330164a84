"""Exported students, run by Marian itself in the form for browsers, if the engine is built: `make engines`."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.runtime.exports.students import (
    PIECES,
    SHAPES,
    SOURCE_PIECES,
    TWO_VOCABULARIES,
    UNEVEN,
    greedy_by_shortlist,
    student,
)
from tests.small_models import TEXT
from weebill.runtime.exports.marian.conversion import export
from weebill.translation.search import greedy
from weebill_runtime.options import SearchOptions
from weebill_runtime.shortlist import Shortlist

ENGINE = Path(__file__).parents[3] / "node_modules/@browsermt/bergamot-translator"
SCRIPT = Path(__file__).with_name("marian_engine.cjs")
# Marian's limit, as the script sets it: twice the source with its end, plus the translation's end.
OPTIONS = SearchOptions(length_factor=2.0, length_constant=3)

NEEDS_ENGINE = pytestmark = pytest.mark.skipif(
    not ENGINE.is_dir() or shutil.which("node") is None,
    reason="Marian's engine is not here; `make engines` fetches it from npm",
)


def engine(folder: Path) -> list[str]:
    """Return Marian's translations of TEXT."""
    return translated_by("node", SCRIPT, ENGINE, folder)


def translated_by(*command) -> list[str]:
    """Return the translations of TEXT by a program."""
    done = subprocess.run(
        command,
        input="".join(f"{line}\n" for line in TEXT),
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split("\n")[:-1]


@pytest.mark.parametrize("name", [*SHAPES, *UNEVEN, *TWO_VOCABULARIES])
def test_marian_translates_alike(tmp_path, vocabulary, pair, name):
    network, pieces = student(name), pair if name in TWO_VOCABULARIES else vocabulary
    export(network, pieces, tmp_path / "marian", pad=name in UNEVEN)
    found = greedy([network], pieces.source.encode(TEXT), OPTIONS)
    expected = pieces.target.decode(found)
    assert len({*expected}) > 1
    assert engine(tmp_path / "marian") == expected


@pytest.mark.parametrize("name", ["ssru", "ssru, two vocabularies"])
def test_marian_uses_the_shortlist(tmp_path, vocabulary, pair, name):
    network, two = student(name), name in TWO_VOCABULARIES
    pieces, rows = (pair, SOURCE_PIECES) if two else (vocabulary, PIECES)
    draw = np.random.default_rng(1)
    candidates = draw.integers(2, PIECES, (rows, 1), dtype=np.int32)
    frequent = np.array([0, 7, 9], dtype=np.int32)
    shortlist = Shortlist(candidates, frequent, pieces.sha256, PIECES if two else None)
    export(network, pieces, tmp_path / "marian", shortlist=shortlist)
    expected = list(greedy_by_shortlist(network, pieces, shortlist, OPTIONS))
    assert engine(tmp_path / "marian") == expected
