"""Exported students run by Marian itself, in the form that browsers use, if that engine is built: `make engines`."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.runtime.exports.students import PIECES, SHAPES, UNEVEN, student
from tests.small_models import TEXT
from weebill.runtime.exports.marian.conversion import export
from weebill.runtime.shortlist import Shortlist
from weebill.translation.model.vocabulary import EOS
from weebill.translation.search import SearchOptions, greedy

ENGINE = Path(__file__).parents[3] / "node_modules/@browsermt/bergamot-translator"
SCRIPT = Path(__file__).with_name("marian_engine.cjs")
# Marian's limit, as the script sets it: twice the source with its end, plus the translation's end
OPTIONS = SearchOptions(length_factor=2.0, length_constant=3)

pytestmark = pytest.mark.skipif(
    not ENGINE.is_dir() or shutil.which("node") is None,
    reason="Marian's engine is not here; `make engines` fetches it from npm",
)


def engine(folder: Path) -> list[str]:
    """Return Marian's translations of TEXT."""
    done = subprocess.run(
        ["node", str(SCRIPT), str(ENGINE), str(folder)],
        input="".join(f"{line}\n" for line in TEXT),
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split("\n")[:-1]


@pytest.mark.parametrize("name", [*SHAPES, *UNEVEN])
def test_marian_translates_alike(tmp_path, vocabulary, name):
    network = student(name)
    export(network, vocabulary, tmp_path / "marian", pad=name in UNEVEN)
    expected = vocabulary.decode(greedy([network], vocabulary.encode(TEXT), OPTIONS))
    assert len({*expected}) > 1
    assert engine(tmp_path / "marian") == expected


def test_marian_uses_the_shortlist(tmp_path, vocabulary):
    """Marian adds the pieces of the source, and others up to a multiple of eight."""
    network = student("ssru")
    draw = np.random.default_rng(1)
    candidates = draw.integers(2, PIECES, (PIECES, 1), dtype=np.int32)
    shortlist = Shortlist(candidates, np.array([0, 7, 9], dtype=np.int32))
    export(network, vocabulary, tmp_path / "marian", shortlist=shortlist)
    found, bias = engine(tmp_path / "marian"), network.output.bias.data.clone()
    for source, translation in zip(vocabulary.encode(TEXT), found, strict=True):
        columns = {*shortlist.columns(source).tolist(), *source}
        others = (piece for piece in range(2, PIECES) if piece not in columns)
        columns.update(next(others) for _ in range(-len(columns) % 8))
        absent = [piece for piece in range(PIECES) if piece not in columns]
        network.output.bias.data.copy_(bias)
        network.output.bias.data[absent] = -1e4
        assert EOS in columns and absent
        assert vocabulary.decode(greedy([network], [source], OPTIONS)) == [translation]
