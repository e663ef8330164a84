"""The help of every command says what each argument is, and names its real default."""

import re

import pytest

from docs.site.command_line import actions
from weebill.__main__ import COMMANDS, parser_of
from weebill.benchmarks import NAMES
from weebill.commands import benchmark

BENCHMARKS = (*NAMES, benchmark.GPU, benchmark.ALL)
NO_SUBJECT = re.compile(r"$|(default|by default|of|as|or|for|with|without|that)\b")  # no noun first


def _arguments(parser) -> list:
    """Return the arguments of a parser and its subparsers, except --help."""
    below = [one for inner in actions(parser).values() for one in _arguments(inner)]
    found = [one for one in parser._actions if one.dest not in ("help", "action")]
    return [*((parser, one) for one in found), *below]


def faults(parser) -> list[str]:
    """Return the faults in the help of a parser's arguments."""
    found = []
    for owner, one in _arguments(parser):
        text = (one.help or "") % {"default": one.default}
        name = f"{owner.prog} {one.option_strings or one.metavar}"
        if NO_SUBJECT.match(text) and not re.match(r"for a |with --", text):
            found.append(f"{name}: '{text}' does not say what it is")
        said = re.search(r"\bdefault:? ?(\S*)", text)
        if said and not said[1]:
            found.append(f"{name}: '{text}' names no default")
        number = said and re.match(r"\d[\d.]*(e-?\d+)?", said[1])
        if number and isinstance(one.default, int | float) and float(number[0]) != one.default:
            found.append(f"{name}: '{text}', but the default is {one.default}")
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_is_whole_and_true(name):
    assert faults(actions(parser_of(name))[name]) == []


@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_help_of_a_benchmark_is_whole_and_true(name):
    assert faults(benchmark.parser_of(name)) == []


def test_the_readers_find_a_wrong_default_and_a_missing_word(monkeypatch):
    parser = actions(parser_of("serve"))["serve"]
    parser.add_argument("--much", type=int, default=3, help="how much; default 5")
    parser.add_argument("--more", default="x", help="default x")
    parser.add_argument("--most", default=(), help="further ones; default ")
    assert [one.split(": ")[0].split("--")[1] for one in faults(parser)] == [
        "much']", "more']", "most']",
    ]  # fmt: skip
