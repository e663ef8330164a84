"""Shortlists of corpora: counts and ranks compared with loops, samples, and the full list of a small language."""

import random
from collections import Counter
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from tests.corpus.test_alignment import PIECES, aligned_pairs, needs_eflomal
from tests.small_models import TEXT, make_vocabulary
from weebill.corpus.alignment import count_links
from weebill.corpus.table import write_table
from weebill.errors import InputError
from weebill.runtime.lexical_table import (
    make_shortlist,
    most_probable,
    sample_pairs,
)
from weebill.translation.model.vocabulary import train_vocabulary
from weebill_runtime.names import SIDES
from weebill_runtime.vocabulary import Vocabulary, VocabularyPair

WORDS = {"bird": "Vogel", "tree": "Baum", "dog": "Hund", "cats": "Katzen", "table": "Tisch"}


@pytest.mark.parametrize("kept", [1, 3, 20])
def test_the_most_probable_are_kept_best_first(kept):
    links, counts, _ = count_links(aligned_pairs(), PIECES)
    table = most_probable(links, counts, (PIECES, PIECES), kept)
    assert table.shape == (PIECES, kept)
    pairs = list(zip(links.tolist(), counts.tolist(), strict=True))
    for source in range(PIECES):
        own = [(t % PIECES, n) for t, n in pairs if t // PIECES == source]
        total = sum(number for _, number in own)
        ranked = sorted(own, key=lambda entry: (-entry[1] / total, entry[0]))
        expected = [target for target, _ in ranked][:kept]
        assert table[source].tolist() == expected + [-1] * (kept - len(expected))


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    return make_vocabulary(tmp_path_factory.mktemp("vocabulary") / "vocab.spm")


def table_of(path, sources, targets):
    kinds = {"source": pa.string(), "target": pa.string()}
    write_table(path, pa.table({"source": sources, "target": targets}, schema=pa.schema(kinds)))
    return path


def test_a_sample_keeps_pairs_together_and_follows_the_seed(tmp_path, vocabulary):
    sources = [" ".join(words) for words in product(WORDS, repeat=3)]
    targets = [" ".join(WORDS[word] for word in source.split()) for source in sources]
    corpus = table_of(tmp_path / "corpus", sources, targets)
    sides = (vocabulary.encode(text) for text in (sources, targets))
    pieces = [(source[:-1], target[:-1]) for source, target in zip(*sides, strict=True)]

    def drawn(seed, pairs=40):
        found = list(sample_pairs(corpus, vocabulary, pairs, seed))
        places = [pieces.index(pair) for pair in found]
        assert places == sorted(set(places))
        return places

    one = drawn(seed=1)
    assert len(one) == 40
    assert one == drawn(seed=1) != drawn(seed=2)
    assert drawn(seed=1, pairs=125) == drawn(seed=1, pairs=9999) == list(range(125))


def test_text_without_a_translation_is_refused(tmp_path, vocabulary):
    corpus = table_of(tmp_path / "corpus", ["a bird", "a tree"], ["ein Vogel", None])
    with pytest.raises(InputError, match="corpus: row 1 has no target"):
        list(sample_pairs(corpus, vocabulary, 10, seed=1))


@needs_eflomal
@pytest.mark.parametrize("larger", SIDES)
def test_two_vocabularies_have_a_shortlist(tmp_path, larger):
    """Each English word's pieces yield all pieces of its translation, whichever vocabulary is larger."""
    draw = random.Random(6)
    sentences = [draw.sample(sorted(WORDS), 3) for _ in range(50)]
    sources = [" ".join(words) for words in sentences]
    targets = [" ".join(f"{WORDS[word]} ." for word in words) for words in sentences]
    for side, text, size in zip(SIDES, (sources, targets), (18, 25), strict=True):
        more = [] if side != larger else TEXT
        train_vocabulary([*text, *more], tmp_path / side, size=50 if more else size, seed=1)
    pair = VocabularyPair(*(Vocabulary(tmp_path / side) for side in SIDES))
    corpus = table_of(tmp_path / "corpus", sources, targets)
    made = make_shortlist(corpus, pair, tmp_path / "work", candidates=20, frequent=3, seed=1)
    assert (len(made.candidates), made.targets) == (len(pair.source), len(pair.target))
    for source, target in WORDS.items():
        columns = made.columns(pair.source.encode([source])[0])
        assert np.isin(pair.target.encode([target])[0], columns).mean() > 0.7


@needs_eflomal
def test_the_shortlist_of_a_language_holds_its_words(tmp_path, vocabulary):
    """Words of a pair have any order; each source word's pieces yield all pieces of its translation."""
    draw = random.Random(6)
    sentences = [draw.sample(sorted(WORDS), 3) for _ in range(50)]
    sources = [" ".join(words) for words in sentences]
    targets = [" ".join(f"{WORDS[word]} ." for word in words) for words in sentences]
    corpus = table_of(tmp_path / "corpus", sources, targets)
    work = tmp_path / "shortlist.work"
    made = make_shortlist(corpus, vocabulary, work, candidates=20, frequent=3, pairs=1000, seed=1)
    assert made.made_with == vocabulary.sha256
    occurrences = Counter(piece for one in vocabulary.encode(targets) for piece in one[:-1])
    assert made.frequent.tolist() == [piece for piece, _ in occurrences.most_common(3)]
    for source, target in WORDS.items():
        columns = made.columns(vocabulary.encode([source])[0])
        assert np.isin(vocabulary.encode([target])[0], columns).mean() > 0.7
    again = make_shortlist(corpus, vocabulary, work, candidates=20, frequent=3, pairs=1000, seed=1)
    assert (again.candidates == made.candidates).all()
