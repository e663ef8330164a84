"""Injected damage matches its label and the requested amount, and is equal for equal seeds."""

from collections import Counter
from dataclasses import replace

import pytest

from weebill.corpus.importers.inputs import contents, local_inputs
from weebill.corpus.importing import import_corpus, write_lock
from weebill.corpus.injected_noise import KINDS, InjectedNoise, inject
from weebill.corpus.sources import Places
from weebill.corpus.table import read_columns, read_schema
from weebill.corpus.tatoeba import read_pairs, read_sentences
from weebill.errors import InputError
from weebill.files import read_json

ROWS = 6000
PAIRS = [
    (f"a source line with number {row}", f"ein Ziel mit der Nummer {row}") for row in range(ROWS)
]


@pytest.fixture
def french(tmp_path):
    """Write French lines, every tenth of them empty."""
    lines = (f"une ligne {row}\n" if row % 10 else "\n" for row in range(ROWS))
    (tmp_path / "x.fr").write_text("".join(lines))
    return tmp_path / "x.fr"


@pytest.fixture
def czech(tmp_path):
    """Write three Czech lines."""
    (tmp_path / "x.cs").write_text("první\ndruhý\ntřetí\n")
    return tmp_path / "x.cs"


def damaged(files, share=0.2, seed=1, kinds=KINDS, pairs=PAIRS):
    noise = InjectedNoise(
        share=share, seed=seed, kinds=kinds, other_languages=tuple(map(str, files))
    )
    return list(inject(pairs, noise, files))


def begins(part, whole):
    """Return True if `part` has the first words of `whole`, at most half of them."""
    words = part.split(" ")
    return 1 <= len(words) <= len(whole.split(" ")) // 2 and whole.startswith(f"{part} ")


def is_kind(kind, row, source, target):
    """Return True if a damaged pair matches its label, by comparison with the undamaged text."""
    first, second = PAIRS[row]
    match kind:
        case None:
            return (source, target) == (first, second)
        case "misaligned":
            return (
                source == first
                and (other := int(target.split()[-1])) < row
                and (PAIRS[other][1] == target and row - other < 3000)
            )
        case "wrong_language":
            line = source if target == second else target
            czech = ("první", "druhý", "třetí")[row % 3]
            return line in (f"une ligne {row}", czech) and (source == first or target == second)
        case "truncated":
            return (begins(source, first) and target == second) or (
                source == first and begins(target, second)
            )
        case "copied":
            return source == target == first
    return False


def test_every_row_is_what_its_label_says(french, czech):
    rows = damaged([french, czech])
    assert len(rows) == ROWS
    wrong = [
        (number, row) for number, row in enumerate(rows) if not is_kind(row[2], number, *row[:2])
    ]
    assert wrong == []
    counts = Counter(kind for _, _, kind in rows)
    noisy = ROWS - counts[None]
    assert abs(noisy - 0.2 * ROWS) < 5 * (ROWS * 0.2 * 0.8) ** 0.5  # five standard deviations
    assert set(counts) == {None, *KINDS}
    assert all(abs(counts[kind] - noisy / 4) < 20 for kind in KINDS)  # kinds take turns


def test_the_seed_decides(french, czech):
    assert damaged([french, czech]) == damaged([french, czech])
    assert damaged([french, czech]) != damaged([french, czech], seed=2)


@pytest.mark.parametrize("kind", KINDS)
def test_one_kind_alone(french, kind):
    files = [french] if kind == "wrong_language" else []
    rows = damaged(files, share=0.5, kinds=(kind,))
    assert {found for _, _, found in rows} == {None, kind}


def test_what_cannot_be_damaged_stays_as_it_is():
    pairs = [("a", "a"), ("b", "b"), ("c d e", "f g h")]
    kinds = ("truncated", "copied")
    rows = damaged([], 1.0, kinds=kinds, pairs=pairs)
    assert rows[:2] == [("a", "a", None), ("b", "b", None)] and rows[2] == (
        "c d e",
        "c d e",
        "copied",
    )
    # The first row has no previous row, and a row of equal text is no misalignment.
    rows = damaged([], 1.0, kinds=("misaligned",), pairs=[("a", "x"), ("b", "x"), ("c", "y")])
    assert rows == [("a", "x", None), ("b", "x", None), ("c", "x", "misaligned")]


def test_text_without_spaces_is_cut_between_letters():
    pair = ("東京はとても大きい町です。", "กรุงเทพฯ เป็นเมืองใหญ่มาก")
    rows = damaged([], 1.0, kinds=("truncated",), pairs=[pair] * 40)
    assert {kind for *_, kind in rows} == {"truncated"}
    sources, targets = ({row[side] for row in rows} - {pair[side]} for side in (0, 1))
    assert sources == {pair[0][:end] for end in range(1, 7)}
    letters = ["ก", "รุ", "ง", "เ", "ท", "พ", "ฯ", " เ", "ป็", "น", "เ", "มื"]  # with their marks
    assert targets <= {"".join(letters[:end]) for end in range(1, 13)} and len(targets) > 6


def test_an_empty_file_is_an_error(tmp_path):
    (tmp_path / "empty.fr").touch()
    with pytest.raises(InputError, match=r"empty\.fr: empty file"):
        damaged([tmp_path / "empty.fr"])


def test_the_embedded_languages_are_those_that_the_identifier_has_not_seen(french):
    noise = InjectedNoise(share=1, seed=1, kinds=("wrong_language",), other_languages=("tatoeba",))
    pairs = read_pairs(1200)
    others = [read_sentences(language, held_out=True) for language in ("fr", "nl")]
    for row, (source, target, _) in enumerate(inject(pairs, noise)):
        line = source if target == pairs[row][1] else target
        assert line in {lines[row % len(lines)] for lines in others}
        assert source == pairs[row][0] or target == pairs[row][1]
    own = inject(PAIRS[:50], replace(noise, other_languages=("tatoeba", str(french))), [french])
    assert any("une ligne" in " ".join(row[:2]) for row in own)


def test_an_entry_with_noise(tmp_path, french):
    """The importer's rows are damaged and labelled; its files are inputs, and the lock has their contents."""
    for side, text in zip(("en", "de"), zip(*PAIRS, strict=True), strict=True):
        (tmp_path / f"a.{side}").write_text("".join(f"{line}\n" for line in text))
    noise = {"share": 0.1, "seed": 3, "kinds": list(KINDS), "other_languages": [str(french)]}
    plain = {"importer": "files", "source": f"{tmp_path}/a.en", "target": f"{tmp_path}/a.de"}
    entry = {**plain, "noise": noise}

    import_corpus(tmp_path / "out", "news", entry, ("en", "de"), shard_rows=1000)
    table = read_columns(tmp_path / "out", ["source", "target", "noise"], kept=False)
    wanted = inject(PAIRS, InjectedNoise(**noise), [french])
    assert [tuple(row.values()) for row in table.to_pylist()] == list(wanted)

    import_corpus(tmp_path / "plain", "news", plain, ("en", "de"), shard_rows=1000)
    assert "noise" not in read_schema(tmp_path / "plain").names
    assert local_inputs(entry) == [plain["source"], plain["target"], str(french)]
    assert contents(entry)[0]["noise"] == noise
    write_lock(tmp_path / "lock", [("corpora.news", entry, None)], ("en", "de"), Places())
    locked = read_json(tmp_path / "lock")["sources"]["corpora.news"]
    assert [record["place"] for record in locked] == local_inputs(entry)
