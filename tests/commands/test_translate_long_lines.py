"""`weebill translate` with long lines: they are split, cut with a warning, or refused."""

import math
import re

import pytest
import sentencepiece

from tests.small_models import TEXT
from weebill.commands import translate as translating
from weebill.rehearsal.making.translators import SHAPE, make_marian
from weebill.translation.loading import load_translator

LONG = re.sub(r"\W", "", "".join(TEXT * 3))  # one word, too long by itself


def test_extreme_lines(translate, folder):
    """Words of 40,000 letters, lines of unknown characters and lines of blanks are translated."""
    lines = ["word" * 10_000, "\u9999\u6e2f\U0001f980", "   ", "\u200b", "x" * 5000]
    code, out, error = translate(folder, text="\n".join(lines).encode())
    assert (code, out.count("\n")) == (0, len(lines))
    assert re.findall(r"standard input:(\d+): \d+ pieces, cut", error) == ["1"]
    assert out.split("\n")[2] == ""
    reference = load_translator(folder).translate(lines)
    assert out == "\n".join(reference) + "\n"


def pieces(folder, line: str) -> int:
    """Return the length of a line, as counted by SentencePiece."""
    own = sentencepiece.SentencePieceProcessor(model_file=str(folder / "vocab.spm"))
    return len(own.encode(line))


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--window", 1),
        ("--window", 2),
        ("--beam", 2, "--nbest", 2),
        ("--sample", 2),
        ("--threads", 2, "--isa", "portable"),
    ],
)
def test_a_line_that_is_cut_is_named(translate, folder, options):
    lines = [TEXT[0], "", LONG, TEXT[1], f"{LONG}{LONG}"]
    _, out, error = translate(folder, *options, text="\n".join(lines).encode())
    assert error.splitlines() == [
        f"weebill: standard input:{number}: {pieces(folder, lines[number - 1])} pieces, cut to the first 200; "
        "--max-length N translates more, or split the line"
        for number in (3, 5)
    ]
    assert len({line.split(" ||| ")[0] for line in out.splitlines()}) >= 3, "nothing else changes"


def test_a_line_is_as_long_as_max_length_says(translate, folder):
    """The source has 3,000 pieces; the model never ends by itself, so its translations reach the limit."""
    line = LONG * 7
    length = pieces(folder, line)
    assert 3000 < length < 4000
    for most, kept in ((None, 200), (length - 1, length - 1), (length, length), (4000, length)):
        given = () if most is None else ("--max-length", most)
        code, out, error = translate(folder, "--beam", 1, *given, text=line.encode())
        assert code == 0 and error.count("\n") == (kept < length)
        if kept < length:
            assert f"standard input:1: {length} pieces, cut to the first {kept};" in error
        assert pieces(folder, out.rstrip("\n")) == math.ceil(1.5 * kept) + 10 - 1


def test_a_long_line_is_split_at_its_sentences(translate, folder):
    """The translations equal those of one sentence per line, with the spaces between them."""
    code, out, error = translate(folder, text=" ".join(TEXT * 7).encode())
    alone = load_translator(folder).translate(TEXT * 7)
    assert (code, error, out) == (0, "", " ".join(alone) + "\n")
    _, shorter, _ = translate(folder, text=" ".join(TEXT * 7 + [TEXT[0]]).encode())
    assert shorter == " ".join([*alone, alone[0]]) + "\n"


def test_max_length_beyond_a_models_positions_is_refused(translate, monkeypatch, tmp_path):
    monkeypatch.setitem(SHAPE, "max_position_embeddings", 64)
    model = make_marian(tmp_path / "marian")
    for most, fits in ((64, True), (65, False), (10**9, False)):
        code, out, error = translate(model, "--max-length", most, text=b"bird")
        assert (code, out == "") == ((0, False) if fits else (1, True))
        refusal = f"translate: --max-length {most}: {model} reads at most 64 pieces; choose a number up to 64"
        assert (refusal in error) != fits
    line = ("thebirdsings" * 30).encode()
    _, _, error = translate(model, text=line)
    assert "cut to the first 64; the model reads no more; split the line" in error


def test_a_line_without_end_is_refused_and_lines_before_it_are_translated(translate, folder):
    text = b"A bird.\nTwo cats.\n" + b"A small bird sings. " * 60_000
    code, out, error = translate(folder, text=text)
    assert code == 1 and out.count("\n") == 2
    assert "standard input:3: more than 1,048,576 bytes in one line" in error


def test_windows_of_long_lines_are_small():
    lines = ["x" * 50_000] * 300
    sizes = [len(window) for window in translating._windows(iter(lines), 4096)]
    assert sum(sizes) == 300 and max(sizes) * 50_000 < 5_000_000
    assert [len(one) for one in translating._windows(iter(["a"] * 9), 4)] == [4, 4, 1]
