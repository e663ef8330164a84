"""Students trained by Marian are imported and translate as in Marian (takes minutes; needs pymarian)."""

import pytest

from tests.runtime.exports import pymarian_students
from weebill.__main__ import main
from weebill.corpus.tatoeba import read_pairs
from weebill.runtime.text import load_runtime
from weebill.translation.model.vocabulary import train_vocabulary
from weebill_runtime.options import SearchOptions

TRAINED, TESTED, PIECES, UPDATES = 19_000, 1000, 1000, 200
ALIKE = 0.99  # share of lines
# Mozilla's tiny and base-memory with fewer layers; the second has two vocabularies.
TINY = {"dim_emb": 256, "transformer_dim_ffn": 1536, "enc_depth": 2, "dec_depth": 2}
BASE_MEMORY = {"dim_emb": 384, "transformer_dim_ffn": 1536, "enc_depth": 2, "dec_depth": 1}
# Marian's limit is twice the source with its end; ours also counts the translation's end.
OPTIONS = SearchOptions(length_factor=2.0, length_constant=3)


@pytest.mark.parametrize(
    ("shape", "two"), [(TINY, False), (BASE_MEMORY, True)], ids=["tiny", "base-memory"]
)
@pytest.mark.timeout(600)
def test_imported_students_translate_alike(tmp_path, shape, two):
    pymarian_students.python()
    pairs = read_pairs(TRAINED + TESTED)
    sides = [list(side) for side in zip(*pairs[:TRAINED], strict=True)]
    texts = {"source": sides[0], "target": sides[1]} if two else {"target": [*sides[0], *sides[1]]}
    for name, lines in texts.items():
        train_vocabulary(lines, tmp_path / f"{name}.spm", PIECES, seed=1)
    files = [tmp_path / f"{next(iter(texts))}.spm", tmp_path / "target.spm"]
    model = pymarian_students.train(tmp_path, files, pairs[:TRAINED], UPDATES, **shape)
    lines = [source for source, _ in pairs[TRAINED:]]
    theirs = pymarian_students.translate(model, files, lines)
    assert len(set(theirs)) > TESTED / 4  # it distinguishes sentences

    folder, options = tmp_path / "imported", ["--vocabulary", str(files[1])]
    options += ["--source-vocabulary", str(files[0])] if two else []
    assert main(["import-marian", str(model), str(folder), *options]) == 0
    translator = load_runtime(folder)
    ours = translator.translate(lines, OPTIONS)
    equal = sum(map(str.__eq__, ours, theirs))
    assert equal >= ALIKE * TESTED, f"{equal} of {TESTED} lines"
