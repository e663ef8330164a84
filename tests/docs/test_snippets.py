"""Every command, import and configuration in the documents is accepted by its real reader."""

import ast
import re
from functools import cache
from importlib import import_module
from importlib.util import find_spec

import pytest
import yaml
from snakemake.cli import get_argument_parser

from tests.docs.snippets import REPOSITORY, blocks, commands, commented, pages, parts
from weebill.__main__ import COMMANDS, parser_of
from weebill.commands import benchmark
from weebill.configuration.checking import check

PAGES = pages()
OTHERS = {
    "git",
    "source",
    "cd",
    "export",
    "rm",
    "echo",
    "pip",
    "snakedeploy",
    "weebill-translate",
    "scancel",
}
MAKEFILE = (REPOSITORY / "Makefile").read_text("utf-8")
CHECKED = {  # number of YAML blocks that change the demo's configuration
    "docs/guides/own-data.md": 1,
    "docs/guides/gpu.md": 1,
    "docs/concepts.md": 1,
}


def fault(words: list[str]) -> str | None:
    """Return the reason why a command would not run; None if its own parser accepts it."""
    program, *rest = words
    if program == "weebill":
        return _weebill(rest)
    if program == "make":
        targets = [word for word in rest if "=" not in word]
        missing = [word for word in targets if not re.search(rf"^{word}:", MAKEFILE, re.MULTILINE)]
        return f"no target {missing}" if missing else None
    if program == "snakemake":
        return _parsed(get_argument_parser(), rest)
    if program == "python":
        found = find_spec(rest[1]) if rest[0] == "-m" else (REPOSITORY / rest[0]).is_file()
        return None if found else f"no Python '{' '.join(rest)}'"
    if program in OTHERS or (REPOSITORY / program).is_file():
        return None
    return f"no program '{program}' that the documents use"


def _weebill(words: list[str]) -> str | None:
    command = words[0]
    if command == "COMMAND":
        return None
    if command not in COMMANDS:
        return f"no command '{command}'"
    if command == "run":  # Snakemake's arguments follow the files
        return _parsed(
            get_argument_parser(),
            ["--cores", "1", "--configfile", words[1], *_after_file(words[2:])],
        )
    if command == "benchmark":
        return None if words[1] == "NAME" else _parsed(_benchmark(words[1]), words[2:])
    return _parsed(_command(command), words)


def _after_file(words: list[str]) -> list[str]:
    """Return Snakemake's words after `--configfile FILE`, which would take a target for a second file."""
    return words if not words or words[0].startswith("-") else ["--", *words]


@cache
def _command(name: str):
    return parser_of(name)


@cache
def _benchmark(name: str):
    return benchmark.parser_of(name)


def _parsed(parser, words: list[str]) -> str | None:
    if "…" in " ".join(words):
        return None
    try:
        parser.parse_args(["2" if word == "N" else word for word in words])  # N: any number
    except SystemExit as end:
        return None if end.code == 0 else f"not read: {' '.join(words)}"
    except Exception as error:
        return f"not read: {error}"
    return None


@pytest.mark.parametrize("page", PAGES)
def test_each_command_is_read_by_its_program(page):
    assert [(words, found) for words in commands(page) if (found := fault(words))] == []


@pytest.mark.parametrize(
    "path", sorted(REPOSITORY.glob("config/*.y*ml")), ids=lambda path: path.name
)
def test_each_command_in_a_configuration_is_read_by_its_program(path):
    found = list(commented(path))
    assert [(words, why) for words in found if (why := fault(words))] == []
    files = [word for words in found for word in words if word.startswith("config/")]
    assert all((REPOSITORY / file).is_file() for file in files)


def test_the_commands_in_comments_are_found(tmp_path):
    (tmp_path / "a.yaml").write_text(
        "# `make x` does\n#\n# snakemake a \\\n#   --cores 2\nb: 1  # c\n"
    )
    found = [["make", "x"], ["snakemake", "a", "--cores", "2"]]
    assert list(commented(tmp_path / "a.yaml")) == found


def test_the_documents_show_every_command():
    shown = {words[1] for page in PAGES for words in commands(page) if words[0] == "weebill"}
    assert set(COMMANDS) <= shown


@pytest.mark.parametrize(
    "line",
    [
        "weebill translat MODEL < in.en",
        "weebill score --modell METRIC -s in.en -t out.de",
        "weebill mbr --utility klingon -s in.en -t candidates.txt",
        "weebill run config/demo.yaml --no-such-option",
        "weebill benchmark runtime --subjekts marian",
        "make demon",
        "python -m weebill.nothing",
        "nothing at all",
    ],
)
def test_a_wrong_command_is_found(line):
    assert any(fault(words) for words in parts(line))


def test_streams_comments_and_variables_are_no_arguments():
    line = "X=1 weebill translate A < in.en > out.de && make demo  # the demo | nothing"
    assert list(parts(line)) == [["weebill", "translate", "A"], ["make", "demo"]]


@pytest.mark.parametrize("page", PAGES)
def test_python_can_be_compiled_and_its_imports_exist(page):
    for code in blocks(page, "python", "py"):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom):
                module = import_module(node.module)
                assert all(hasattr(module, one.name) for one in node.names), ast.unparse(node)


@pytest.mark.parametrize("page", PAGES)
def test_configurations_in_the_documents_are_valid(page):
    demo = yaml.safe_load((REPOSITORY / "config/demo.yaml").read_text("utf-8"))
    found = [
        yaml.safe_load(re.sub(r"^ *\.\.\.$", "", code, flags=re.M)) for code in blocks(page, "yaml")
    ]
    assert len(found) >= CHECKED.get(page, 0)
    for part in found if page in CHECKED else ():
        merged = {**demo, **part, "hardware": {**demo["hardware"], **part.get("hardware", {})}}
        check(merged, page)
