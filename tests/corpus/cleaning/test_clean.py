"""The whole chain: every row is written with the first filter that rejects it, in bounded memory."""

import os
import shutil
import signal
import subprocess
import sys
import time
import unicodedata

import psutil
import pytest

from weebill.benchmarks.cleaning.ordinary import OrdinaryChain
from weebill.corpus.cleaning import clean
from weebill.corpus.cleaning.clean import Cleaning, clean_corpus
from weebill.corpus.cleaning.language_id import LanguageId
from weebill.corpus.cleaning.rules import Rules
from weebill.corpus.table import ShardWriter, read_columns, shard_paths, write_table
from weebill.errors import InputError
from weebill.text_files import read_lines

PAIR = ("en", "de")
ROWS = [
    ("The  “house”\u200b is old .", "Das „Haus“ ist alt.", None),
    ("A second line", "Eine zweite Zeile", None),
    ('The "house" is old .', 'Das "Haus" ist alt.', "duplicate"),
    ("THE HOUSE IS OLD", "Das Haus ist alt", "near_duplicate"),
    ("", "Eine Zeile", "empty"),
    ("Mister Wong", "mister wong", "identical"),
    ("one two three four five six seven", "eins", "length_ratio"),
    ("12 34 56 go", "12 34 56 los", "letter_tokens"),
    ("Since 2019 it is so", "Seit 2018 ist es so", "numbers"),
    ("From www.a.org, see", "Von www.b.org, siehe", "urls"),
    ("A held out sentence.", "Etwas ganz anderes hier", "test_overlap"),
    ("Something else here", "ein zurückgelegter Satz!", "test_overlap"),
]


def _outcome(path):
    return read_columns(path, ["dropped_by"], kept=False)["dropped_by"].to_pylist()


def _contents(path):
    return read_columns(path, ["source", "target", "row", "dropped_by"], kept=False)


@pytest.fixture
def outcome(tmp_path, as_table):
    """Return a function that cleans pairs, and returns the filter that drops each; held_out: pairs of a test set."""

    def run(pairs, held_out=(), languages=PAIR, **settings):
        write_table(tmp_path / "in.parquet", as_table(pairs))
        if held_out:
            write_table(tmp_path / "test.parquet", as_table(held_out))
            settings["held_out"] = (str(tmp_path / "test.parquet"),)
        clean_corpus(tmp_path / "in.parquet", tmp_path / "out", languages, Cleaning(**settings))
        return _outcome(tmp_path / "out")

    return run


@pytest.fixture
def corpus(tmp_path, as_table):
    """Write ROWS in shards of 5 rows, and a held-out set."""
    table = as_table([row[:2] for row in ROWS])
    with ShardWriter(tmp_path / "corpus", table.schema, 5) as writer:
        writer.write(table)
    held_out = as_table([("a held-out sentence", "Ein zurückgelegter Satz.")])
    write_table(tmp_path / "test.parquet", held_out)
    return tmp_path / "corpus", Cleaning(held_out=(str(tmp_path / "test.parquet"),))


def test_first_filter_of_every_row(tmp_path, corpus):
    clean_corpus(corpus[0], tmp_path / "out", PAIR, corpus[1])
    assert _outcome(tmp_path / "out") == [row[2] for row in ROWS]
    table = read_columns(tmp_path / "out", ["source", "target", "row"])
    assert table.to_pylist()[0] == {
        "source": 'The "house" is old .',
        "target": 'Das "Haus" ist alt.',
        "row": 0,
    }
    assert len(shard_paths(tmp_path / "out")) == 3
    assert not (tmp_path / "out.work").exists()


def test_numbers_tell_pairs_apart(outcome):
    rows = [
        ("It rose by 3.5 percent", "Es stieg um 3,5 Prozent", None),
        ("It rose by 35 percent", "Es stieg um 35 Prozent", None),
        ("This costs 50 $", "Das kostet 50 $", None),
        ("This costs 50 €", "Das kostet 50 €", None),
        ("THIS COSTS: 50 €!", "Das kostet 50 €", "near_duplicate"),
        ("We saw 1.5 of it", "Das sahen wir 1,5 mal", None),
        ("We saw 1-5 of it", "Das sahen wir 1-5 mal", None),
    ]
    held_out = [("we saw 15 of it", "das sahen wir 15 mal")]
    assert outcome([row[:2] for row in rows], held_out) == [row[2] for row in rows]


def test_held_out_text_is_normalised_too(outcome):
    rows = [("I don\u00b4t think so", "Am Ende der Zeile"), ("10,000 crowns", "10\u00a0000 Kronen")]
    held_out = [("I don\u00b4t think so", "Ganz anders"), ("Otherwise", "10\u00a0000 Kronen.")]
    found = outcome([*rows, ("It stays", "Es bleibt")], held_out)
    assert found == ["test_overlap", "test_overlap", None]


@pytest.mark.parametrize("decode", [True, False])
@pytest.mark.parametrize("punctuation", [None, "keep"])
def test_held_out_text_is_prepared_as_the_corpus_is(outcome, decode, punctuation):
    rows = [
        ("Tom &amp; Jerry sleep in the house.", "Tom &amp; Jerry schlafen im Haus."),
        ("Type `ls` into the window.", "Gib `ls` in das Fenster ein."),
        ("It´s nice here now.", "Jetzt ist es hier nett."),
        ("It has 10\u00a0000 people.", "Dort leben 10\u00a0000 Leute."),
    ]
    settings = {"rules": Rules(decode_entities=decode), "punctuation": punctuation}
    found = outcome([*rows, ("It stays", "Es bleibt")], rows, **settings)
    assert found == [*["test_overlap"] * len(rows), None]


@pytest.mark.parametrize(
    ("language", "source", "written", "held_out"),
    [
        (
            "fr",
            "I had a coffee.",
            unicodedata.normalize("NFD", "J'ai bu un café."),
            "J'ai bu un café.",
        ),
        (
            "vi",
            "It is a nice word.",
            "Tiếng Việt rất đẹp.",
            unicodedata.normalize("NFD", "Tiếng Việt rất đẹp."),
        ),
        ("ru", "He came in 2020.", "Он приехал в 2020 году.", "Он приехал в ２０２０ году."),
        ("ar", "New books in 12 shops", "كـــتب جديدة في ١٢ مكتبة", "كتب جديدة في 12 مكتبة"),
        ("ar", "A new book", "\ufedb\ufe98\ufe8e\ufe8f جديد", "كتاب جديد"),
        ("fa", "I will go", "می\u200cخواهم بروم", "میخواهم بروم"),
    ],
)
def test_equal_text_in_another_form_is_found(outcome, language, source, written, held_out):
    pair, other = (source, written), (f"Otherwise, {source}", held_out)
    pairs, languages = [pair, ("Stays here", held_out[:5] * 2)], ("en", language)
    assert outcome(pairs, [other], languages)[0] == "test_overlap"
    found = outcome([pair, (source, held_out)], languages=languages)
    assert found in ([None, "duplicate"], [None, "near_duplicate"])


def test_near_duplicates_and_overlap_can_stay(tmp_path, corpus):
    clean_corpus(corpus[0], tmp_path / "out", PAIR, Cleaning(near_duplicates=False))
    dropped = [None if row[2] in ("near_duplicate", "test_overlap") else row[2] for row in ROWS]
    assert _outcome(tmp_path / "out") == dropped


@pytest.mark.parametrize("function", ["_normalise_shard", "_filter_shard"])
def test_goes_on_after_a_kill(tmp_path, corpus, monkeypatch, function):
    clean_corpus(corpus[0], tmp_path / "undisturbed", PAIR, corpus[1])
    original, calls = getattr(clean, function), []

    def killed(*arguments):
        if len(calls) == 2:
            raise KeyboardInterrupt
        calls.append(original(*arguments))

    monkeypatch.setattr(clean, function, killed)
    with pytest.raises(KeyboardInterrupt):
        clean_corpus(corpus[0], tmp_path / "out", PAIR, corpus[1])
    assert not (tmp_path / "out").exists() and (tmp_path / "out.work").is_dir()
    monkeypatch.undo()
    clean_corpus(corpus[0], tmp_path / "out", PAIR, corpus[1])
    assert _contents(tmp_path / "out").equals(_contents(tmp_path / "undisturbed"))
    assert not (tmp_path / "out.work").exists()


def test_goes_on_after_a_kill_in_the_last_moment(tmp_path, corpus, monkeypatch):
    clean_corpus(corpus[0], tmp_path / "undisturbed", PAIR, corpus[1])
    replace = os.replace

    def killed(source, target):
        replace(source, target)
        if target == tmp_path / "out":
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        clean_corpus(corpus[0], tmp_path / "out", PAIR, corpus[1])
    monkeypatch.undo()
    shutil.rmtree(tmp_path / "out")  # as Snakemake does after a killed job
    clean_corpus(corpus[0], tmp_path / "out", PAIR, corpus[1])
    assert _contents(tmp_path / "out").equals(_contents(tmp_path / "undisturbed"))
    assert not (tmp_path / "out.work").exists()


def _die(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_worker_is_one_clear_error_and_workers_do_not_change_the_result(
    tmp_path, corpus, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(clean, "_filter_shard", _die)
        with pytest.raises(InputError, match="a process that cleaned a shard was killed"):
            clean_corpus(corpus[0], tmp_path / "two", PAIR, corpus[1], workers=2)
    assert (tmp_path / "two.work/repeats").exists()  # finished work is kept
    clean_corpus(corpus[0], tmp_path / "two", PAIR, corpus[1], workers=2)
    clean_corpus(corpus[0], tmp_path / "one", PAIR, corpus[1])
    for one, two in zip(shard_paths(tmp_path / "one"), shard_paths(tmp_path / "two"), strict=True):
        assert one.read_bytes() == two.read_bytes()


WORKERS = """
import sys, time
from pathlib import Path
from weebill.corpus.cleaning.clean import _each
def work(path, seconds):
    path.touch()
    time.sleep(seconds)
if __name__ == "__main__":
    _each(work, [(Path(sys.argv[1]), 0), (Path(sys.argv[2]), 600)], [1, 1], "rows", 2)
"""


def test_workers_end_with_their_parent(tmp_path):
    (tmp_path / "script.py").write_text(WORKERS)
    begun = [tmp_path / "short", tmp_path / "long"]
    parent = psutil.Popen([sys.executable, tmp_path / "script.py", *begun])
    deadline = time.monotonic() + 60
    while not all(path.exists() for path in begun) and time.monotonic() < deadline:
        time.sleep(0.05)
    children = parent.children()
    parent.kill()
    parent.wait()
    left = psutil.wait_procs(children, timeout=10)[1]
    for child in left:
        child.kill()
    assert len(children) >= 2 and left == []


def test_other_settings_start_afresh(tmp_path, corpus, monkeypatch):
    def killed(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(clean, "_tell_losses", killed)
    with pytest.raises(KeyboardInterrupt):
        clean_corpus(corpus[0], tmp_path / "out", PAIR, corpus[1])
    monkeypatch.undo()
    clean_corpus(corpus[0], tmp_path / "out", PAIR, Cleaning(rules=Rules(max_tokens=3)))
    assert _outcome(tmp_path / "out").count("too_long") == 5


@pytest.mark.parametrize(("side", "other"), [("source", "target"), ("target", "source")])
def test_monolingual(tmp_path, outcome, side, other):
    lines = ["A line of text", "a line of text!", "", "1 2 3", "A held out one", "elsewhere"]
    pairs = [(line, None) if side == "source" else (None, line) for line in lines]
    # Only the same side of a held-out pair counts.
    held_out = {side: "A held out one", other: "elsewhere"}
    found = outcome(pairs, [(held_out["source"], held_out["target"])])
    assert found == [None, "near_duplicate", "empty", "letter_tokens", "test_overlap", None]
    assert read_columns(tmp_path / "out", [other])[other].to_pylist() == [None, None]


@pytest.mark.parametrize("first", ["x", None])
def test_mixed_corpora_are_refused(tmp_path, as_table, first):
    rows = [("a", first), ("b", None if first else "x")]
    write_table(tmp_path / "in.parquet", as_table(rows))
    with pytest.raises(InputError, match="some rows have a target and some none"):
        clean_corpus(tmp_path / "in.parquet", tmp_path / "out", PAIR, Cleaning())
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


def test_a_corpus_of_which_nothing_stays(tmp_path, as_table):
    write_table(tmp_path / "in.parquet", as_table([("a", "a"), ("b", "b"), ("", "")]))
    with pytest.raises(InputError, match="keeps none of 3 rows, 'identical' alone drops 2"):
        clean_corpus(tmp_path / "in.parquet", tmp_path / "out", PAIR, Cleaning())
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


def test_a_kill_while_the_work_is_removed_leaves_none_to_go_on_with(
    tmp_path, as_table, monkeypatch
):
    write_table(tmp_path / "in.parquet", as_table([("a", "a")]))
    original = shutil.rmtree

    def killed(path, *arguments, **keywords):
        if "out.work" in path.name:
            raise KeyboardInterrupt
        original(path, *arguments, **keywords)

    monkeypatch.setattr(shutil, "rmtree", killed)
    with pytest.raises(KeyboardInterrupt):
        clean_corpus(tmp_path / "in.parquet", tmp_path / "out", PAIR, Cleaning())
    assert not (tmp_path / "out.work").exists()
    monkeypatch.undo()
    with pytest.raises(InputError, match="keeps none"):
        clean_corpus(tmp_path / "in.parquet", tmp_path / "out", PAIR, Cleaning())
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


@pytest.mark.parametrize("name", ["tatoeba", "onmt_wmt10k_detok", "wmt18pcf_EMEA", "wmt18pcf_KDE4"])
def test_real_text_equals_the_ordinary_way(tmp_path, real_text, lid_176, as_table, name):
    sides = [read_lines(real_text(f"train/{name}.{language}")) for language in PAIR]
    pairs = list(zip(*sides, strict=True))[:1500]
    write_table(tmp_path / "in.parquet", as_table(pairs))
    cleaning = Cleaning(language_id=LanguageId(lid_176))
    clean_corpus(tmp_path / "in.parquet", tmp_path / "out", PAIR, cleaning)
    table = read_columns(tmp_path / "out", ["source", "target", "dropped_by"], kept=False)
    ours = [tuple(row.values()) for row in table.to_pylist()]
    assert ours == OrdinaryChain(lid_176, PAIR, Rules()).clean(pairs)


MEMORY = """
import resource, sys
from weebill.corpus.cleaning.clean import Cleaning, clean_corpus
from weebill.corpus.table import SCHEMA, ShardWriter
import pyarrow as pa
rows, folder = int(sys.argv[1]), sys.argv[2]
with ShardWriter(folder + "/in", SCHEMA, 20_000) as writer:
    for start in range(0, rows, 10_000):
        numbers = [f"word{n:x}" for n in range(start, start + 10_000)]
        writer.write(pa.table({
            "source": [f"An English line about {n}" for n in numbers],
            "target": [f"Eine deutsche Zeile zu {n}" for n in numbers],
            "corpus": ["m"] * 10_000, "row": range(start, start + 10_000),
            "dropped_by": pa.nulls(10_000, pa.string()),
        }, schema=SCHEMA))
clean_corpus(folder + "/in", folder + "/out", ("en", "de"), Cleaning())
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


@pytest.mark.workflows
def test_memory_does_not_grow(tmp_path):
    def peak(rows):
        (tmp_path / str(rows)).mkdir()
        command = [sys.executable, "-c", MEMORY, str(rows), str(tmp_path / str(rows))]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    small, large = peak(20_000), peak(90_000)  # MiB
    assert large < small + 16
