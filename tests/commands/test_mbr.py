"""`weebill mbr`: candidates in both formats; errors name file and line of bad candidates."""

import json
import logging
import re

import pytest

from tests.metric.small import REFERENCES, SOURCES, make_checkpoint, make_encoder
from weebill.__main__ import main
from weebill.commands.mbr import read_candidates
from weebill.metric import mbr
from weebill.metric.folder import load_metric
from weebill.metric.mbr import MetricUtility, decode
from weebill.metric.scorer import Scorer

CANDIDATES = [
    [one, other, "Ja.", one] for one, other in zip(REFERENCES, REFERENCES[::-1], strict=True)
]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("metric")
    return make_checkpoint(folder / "model", make_encoder(folder / "encoder"))


@pytest.fixture
def files(tmp_path):
    sources, candidates = tmp_path / "src.en", tmp_path / "candidates.txt"
    written(sources, SOURCES)
    lines = [f"{n} ||| {text} ||| -1.5" for n, some in enumerate(CANDIDATES) for text in some]
    return sources, written(candidates, lines)


def run(capsys, *arguments):
    code = main(["mbr", *map(str, arguments)])
    return code, *capsys.readouterr()


@pytest.mark.parametrize("window", [5, 4096])
def test_choices_are_those_of_the_library(files, model, capsys, monkeypatch, window):
    monkeypatch.setattr(mbr, "WINDOW", window)
    sources, candidates = files
    utility = MetricUtility(Scorer(load_metric(model)))
    expected = [decode(s, c, utility) for s, c in zip(SOURCES, CANDIDATES, strict=True)]
    code, out, _ = run(capsys, "-s", sources, "-t", candidates, "--model", model)
    assert code == 0 and out.splitlines() == [choices[0].text for choices in expected]
    _, out, _ = run(capsys, "-s", sources, "-t", candidates, "--model", model, "--json")
    for line, choices in zip(out.splitlines(), expected, strict=True):
        found = json.loads(line)
        assert {one["text"] for one in found} == {one.text for one in choices}
        utilities = [one["utility"] for one in found]
        assert utilities == pytest.approx([one.utility for one in choices], abs=2e-6)


def test_a_translation_may_hold_the_separator(files, capsys):
    _, candidates = files
    texts = ["a ||| b", "a ||| b ||| c", "4 ||| 5 ||| x"]
    rows = [f"{n} ||| {text}{score}" for n, text in enumerate(texts) for score in ("", " ||| -2")]
    assert [len(some) for some in read_candidates(written(candidates, rows), 3)] == [2, 2, 2]
    assert read_candidates(candidates, 3) == [[text, text] for text in texts]


def test_candidates_that_an_editor_changed(files):
    """An editor removed the blank before an empty translation, and wrote a mark and carriage returns."""
    _, candidates = files
    rows = ["0 ||| Ein Hund", "0 |||", "1 ||| Ja ||| -0.5", "1 ||| ", "1 ||| a |||"]
    for mark, end in (("", ""), ("\ufeff", "\r")):
        first, *others = (row + end for row in rows)
        found = read_candidates(written(candidates, [mark + first, *others]), 2)
        assert found == [["Ein Hund", ""], ["Ja", "", "a |||"]]
    assert read_candidates(written(candidates, ["Ja.\r", "Nein.\r"]), 1, 2) == [["Ja.", "Nein."]]


def test_candidates_of_marian(files):
    """Features and word scores may stand between the translation and its score."""
    _, candidates = files
    texts = ["Ein Hund.", "a ||| b", "x = 5 ||| y", "", "Let F0= be"]
    features = ("F0= -1.2", "F0=-1.2", "F0= -1.2 F1= -3e-05", "WordScores= -0.1 -2 ||| F0= -1.2")
    for feature in features:
        rows = [f"{n} ||| {text} ||| {feature} ||| -0.6" for n, text in enumerate(texts)]
        assert read_candidates(written(candidates, rows), len(texts)) == [[one] for one in texts]
    assert read_candidates(written(candidates, ["0 ||| 5", "0 ||| -0.5 ||| 7"]), 1) == [
        ["5", "-0.5"]
    ]
    # `F0= -1.2` follows no translation, so it is the text; `b= c` and `= 1` are no features; no score follows `x= 1`.
    rows = ["F0= -1.2", "a ||| b= c ||| -1", "a ||| = 1 ||| -1", "a ||| x= 1"]
    found = read_candidates(written(candidates, [f"0 ||| {row}" for row in rows]), 1)
    assert found == [["F0= -1.2", "a ||| b= c", "a ||| = 1", "a ||| x= 1"]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--utility", "chrf", "--precision", "int8"], "--precision: of a COMET model, and --utility chrf"),
        (["--utility", "bleu", "--cache", "c", "--cache-gib", "2"], "--cache, --cache-gib: of a COMET"),
        (["--utility", "bleu", "--encoder", "e", "--threads", "2"], "--encoder, --threads: of a COMET"),
        (["--utility", "chrf", "--target", "ja"], "--target: only BLEU's tokens depend on it"),
        (["--model", "m", "--target", "ja"], "--target: only BLEU's tokens depend on it"),
    ],
)  # fmt: skip
def test_options_that_would_be_ignored(files, capsys, options, message):
    sources, candidates = files
    code, out, error = run(capsys, "-s", sources, "-t", candidates, *options)
    assert code == 1 and not out and message in error and error.count("\n") == 1


def test_bleu_of_a_target_language(tmp_path, capsys):
    """With words as tokens, all candidates tie and the first wins; with characters, one that resembles two wins."""
    texts = [
        "犬が外を走っていた。",
        "猫は部屋で眠っています。",
        "猫は部屋の中で眠っています。",
        "猫は部屋の中で眠っている。",
    ]
    sources = written(tmp_path / "src.en", ["A cat sleeps in the room."])
    candidates = written(tmp_path / "plain.txt", texts)
    options = [
        "-s",
        sources,
        "-t",
        candidates,
        "--candidates",
        4,
        "--utility",
        "bleu",
        "--not-itself",
    ]
    code, out, error = run(capsys, *options)
    assert (code, out, error.count("\n")) == (1, "", 1)
    assert "no spaces between words; add `--target` with its language" in error
    assert run(capsys, *options, "--target", "13a")[1] == f"{texts[0]}\n"
    code, out, _ = run(capsys, *options, "--target", "ja")
    assert code == 0 and out == f"{texts[2]}\n"


def test_a_long_sentence_is_named_by_its_source(files, model, capsys, caplog):
    sources, candidates = files
    rows = [f"{n} ||| {text}" for n in range(len(SOURCES)) for text in ("Ja.", f"Nein{n}")]
    rows.append(f"2 ||| {' Hund' * 90}")
    written(candidates, rows)
    with caplog.at_level(logging.WARNING):
        assert run(capsys, "-s", sources, "-t", candidates, "--model", model)[0] == 0
    (line,) = caplog.messages
    assert re.match(r"candidates of source 2:3: \d+ pieces, cut to the first 62", line)


def written(path, lines):
    """Write lines to a file and return its path."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_plain_lines_and_a_sentence_score(files, tmp_path, capsys):
    sources, candidates = files
    plain = tmp_path / "plain.txt"
    plain.write_text("".join(f"{text}\n" for some in CANDIDATES for text in some), encoding="utf-8")
    options = ["-s", sources, "--utility", "chrf", "--not-itself"]
    code, out, _ = run(capsys, *options, "-t", plain, "--candidates", 4)
    assert code == 0 and run(capsys, *options, "-t", candidates)[1] == out
    assert len(out.splitlines()) == len(SOURCES)


@pytest.mark.parametrize(
    ("lines", "options", "message"),
    [
        (["Ja."], [], "candidates.txt:1: expected LINE ||| TRANSLATION"),
        (["0 ||| Ja.", "9 ||| Nein."], [], "candidates.txt:2: a candidate of source 9, but there are 6"),
        (["0 ||| Ja.", "6 ||| Nein."], [], "candidates.txt:2: a candidate of source 6, but there are 6"),
        (["0 ||| Ja.", f"{'9' * 5000} ||| x"], [], "candidates.txt:2: a candidate of source 999"),
        (["-1 ||| Ja."], [], "candidates.txt:1: expected LINE ||| TRANSLATION"),
        (["0 ||| Ja."], [], "no candidate of source 1"),
        (["Ja.", "Nein."], ["--candidates", "2"], "2 lines, expected 2 for each of 6 sources"),
    ],
)  # fmt: skip
def test_bad_candidates(files, capsys, lines, options, message):
    sources, candidates = files
    written(candidates, lines)
    code, _, error = run(capsys, "-s", sources, "-t", candidates, "--utility", "chrf", *options)
    assert code == 1 and message in error and error.count("\n") == 1


def test_an_empty_translation_without_its_blank(files, capsys):
    sources, candidates = files
    written(candidates, ["0 ||| Ein Hund", "0 |||", *(f"{n} ||| Ja" for n in range(1, 6))])
    assert read_candidates(candidates, 6)[0] == ["Ein Hund", ""]
    code, out, _ = run(capsys, "-s", sources, "-t", candidates, "--utility", "chrf")
    assert code == 0 and len(out.splitlines()) == 6
