"""The lexical score, compared with its formula; the table of a known language; and the sample of rows."""

import math
from collections import Counter
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import rankdata

from tests.corpus.test_alignment import needs_eflomal
from weebill.corpus.scores.language_model import tokens
from weebill.corpus.scores.lexical_translation import SCHEMA, estimate, log_ratio, sample
from weebill.corpus.table import read_columns, write_table
from weebill.errors import InputError

LINKS = [
    ("the", "der", 6),
    ("the", "die", 4),
    ("bird", "vogel", 3),
    ("birds", "vögel", 2),
    ("sings", "singt", 2),
    ("sings", "der", 1),
    (".", ".", 9),
]
PAIRS = [
    ("The bird sings.", "Der Vogel singt."),
    ("The bird sings.", "Die Katze schläft."),
    ("Birds!", "Vögel ."),
    ("the the the", "der"),
    ("unknown words", "ganz unbekannt"),
    ("", "Der Vogel"),
    ("bird", ""),
]


@pytest.fixture
def table(tmp_path):
    """Write LINKS as a table."""
    rows = pa.Table.from_pylist(
        [dict(zip(SCHEMA.names, link, strict=True)) for link in LINKS], schema=SCHEMA
    )
    write_table(tmp_path / "lexical.parquet", rows)
    return tmp_path / "lexical.parquet"


def one_direction(given, words, side):
    """Return the mean log ratio of `words`, given the other side, by loops over LINKS; side: of `words`, 0 or 1."""
    linked = [(link[1 - side], link[side], link[2]) for link in LINKS]
    total = sum(count for _, _, count in linked)
    of_given, of_word = Counter(), Counter()
    for one, word, count in linked:
        of_given[one] += count
        of_word[word] += count
    logs = []
    for word in words:
        shares = [
            sum(c for one, w, c in linked if (one, w) == (other, word)) / max(of_given[other], 1)
            for other in given
        ]
        frequency = max(of_word[word] / total, 1e-6)
        p = 0.9 * sum(shares) / len(shares) + 0.1 * frequency
        logs.append(math.log(p) - math.log(frequency))
    return sum(logs) / len(logs)


def test_is_the_formula(table):
    found = log_ratio(table)(*zip(*PAIRS, strict=True))
    for (source, target), score in zip(PAIRS, found, strict=True):
        s, t = tokens(source).split(), tokens(target).split()
        directions = (
            [one_direction(s, t, 1), one_direction(t, s, 0)] if s and t else [math.log(0.1)]
        )
        assert score == pytest.approx(min(directions))


def test_translations_stand_above_other_text(table):
    good, bad, *_ = log_ratio(table)(*zip(*PAIRS, strict=True))
    assert good > bad + 1


@needs_eflomal
@pytest.mark.parametrize(
    ("names", "lowest", "dropped"),
    [
        (("tatoeba.en", "tatoeba.de"), 0.95, 0.9),
        (("tatoeba_test.eng-jpn.eng", "tatoeba_test.eng-jpn.jpn"), 0.85, 0.5),
        (("tatoeba_test.eng-ara.eng", "tatoeba_test.eng-ara.ara"), 0.9, 0.5),
    ],
)
def test_true_pairs_stand_above_the_next_lines_target(tmp_path, real_text, names, lowest, dropped):
    """The table is estimated from 9,000 other pairs."""
    sides = [
        real_text(f"train/{name}").read_text(encoding="utf-8").split("\n")[:-1] for name in names
    ]
    pairs = list(zip(*sides, strict=True))[:10_300]
    Random(1).shuffle(pairs)
    estimate(iter(pairs[:9000]), tmp_path / "table", most=9000, seed=1)
    sources, targets = zip(*pairs[9000:], strict=True)
    score = log_ratio(tmp_path / "table")
    true, shuffled = score(sources, targets), score(sources, [*targets[1:], targets[0]])
    ranks = rankdata(np.concatenate([true, shuffled]))[: len(true)]
    assert ranks.mean() - (len(true) + 1) / 2 > lowest * len(true)  # area under the ROC curve
    assert (shuffled < np.quantile(true, 0.05)).mean() > dropped


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("हिन्दी में लिखा है।", "हिन्दी में लिखा है ।"),
        ("委员会将发布。", "委 员 会 将 发 布 。"),
        ("ที่อยู่", "ที่ อ ยู่"),
        ("Don't, Straße!", "don ' t , straße !"),
    ],
)
def test_words_of_any_writing_system(line, expected):
    assert tokens(line) == expected


def test_no_pairs_score_nothing(table):
    assert log_ratio(table)([], []).shape == (0,)


@needs_eflomal
def test_the_table_of_a_known_language(tmp_path):
    """Each word has one translation, which is its most frequent link; equal text gives equal bytes."""
    words = [f"w{number}" for number in range(15)]
    draw = np.random.default_rng(3)
    pairs = []
    for _ in range(300):
        chosen = draw.choice(words, draw.integers(1, 7)).tolist()
        pairs.append((" ".join(chosen).upper(), " ".join(f"{word}x" for word in chosen[::-1])))
    for name in ("one", "again"):
        estimate(iter(pairs), tmp_path / name, most=250, seed=1)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "again").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "one"]
    best = {}
    for row in read_columns(tmp_path / "one", SCHEMA.names, kept=False).to_pylist():
        best.setdefault(row["source"], []).append((row["links"], row["target"]))
    assert {word: max(links)[1] for word, links in best.items()} == {w: f"{w}x" for w in words}


def test_a_sample_keeps_the_order_and_draws_evenly():
    assert sample(zip("abc", "def", strict=True), 5, 1) == [("a", "d"), ("b", "e"), ("c", "f")]
    drawn = Counter()
    for seed in range(2000):
        found = sample(((str(n), "") for n in range(10)), 3, seed)
        assert found == sorted(found) and len(set(found)) == 3
        drawn.update(int(one) for one, _ in found)
    # Each is expected 600 times, with a deviation of √(2000 · 0.3 · 0.7) = 20.5.
    assert all(abs(drawn[number] - 600) < 4 * 20.5 for number in range(10))


@needs_eflomal
def test_no_text_and_no_table(tmp_path):
    with pytest.raises(InputError, match="no sentence pairs"):
        estimate([], tmp_path / "t", most=5, seed=1)
    assert not list(tmp_path.iterdir())


def test_what_is_no_table(tmp_path):
    (tmp_path / "bad").write_text("no table")
    write_table(tmp_path / "other", pa.table({"source": ["a"]}))
    for name, message in [
        ("bad", "bad: "),
        ("other", "no column 'target'"),
        ("none", "no such table"),
    ]:
        with pytest.raises(InputError, match=message):
            log_ratio(tmp_path / name)
