"""For a wrong word on the command line, the error proposes the nearest correct word."""

from argparse import ArgumentTypeError

import pytest

from weebill.__main__ import main
from weebill.arguments import beam, positive, random_seed, real, threads


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["trnslate"], "argument COMMAND: found 'trnslate', expected one of "),
        (["trnslate"], "did you mean 'translate'?"),
        (["check", "x.yaml", "--confg"], "unknown argument '--confg'"),
        (["describe", "tiny", "--vocabulry=9"], "did you mean '--vocabulary'?"),
        (["mbr", "--utility", "blue"], "did you mean 'bleu'?"),
        (["benchmark", "sarch"], "did you mean 'search'?"),
        (["run", "--cores", "2", "a.yaml"], "found '--cores' before CONFIG; give it after that"),
        (["export", "a", "b"], "unknown argument 'b'; --help lists all"),
    ],
)
def test_nearest_word(capsys, words, told):
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (positive, "0"),
        (positive, "٣"),  # a digit, but not ASCII
        (positive, "1_000"),
        (threads, "123456789012"),
        (beam, "9" * 5000),
        (random_seed, "-1"),
        (real(0, 1), "nan"),
        (real(0, 1), "1.5"),
        (real(0, 1, above=True), "0"),
    ],
)
def test_numbers_out_of_bounds(parse, text):
    with pytest.raises(ArgumentTypeError) as caught:
        parse(text)
    assert len(str(caught.value)) < 120


def test_numbers_within_bounds():
    assert (positive("12"), threads("4096"), random_seed("0")) == (12, 4096, 0)
    assert (real(0, 1)("1"), real(0, 1, above=True)("0.25")) == (1.0, 0.25)
