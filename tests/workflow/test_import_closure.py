"""Import closures of scripts, compared with the imports in the bytecode of their modules."""

import dis
import os
import subprocess
import sys
import time
from dataclasses import replace
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, SimpleNamespace

import pytest

from tests.workflow.running import REPOSITORY
from weebill.errors import InputError
from weebill.workflow import import_closure
from weebill.workflow.import_closure import ENGINE, NEUTRAL, Project, read_project

PROJECT = read_project(REPOSITORY)
SCRIPTS = PROJECT.scripts()
MODULES = [name for name in PROJECT.sources if name not in SCRIPTS]


def compiled(name: str) -> CodeType:
    """Return the bytecode of a source, without statements under `if TYPE_CHECKING`, which Python removes."""
    path = REPOSITORY / PROJECT.sources[name].path
    text = path.read_text("utf-8")
    if "TYPE_CHECKING" in text or name in SCRIPTS:
        return compile(text.replace("if TYPE_CHECKING:", "if False:"), path, "exec")
    return SourceFileLoader(name, str(path)).get_code(name)


def imported(code: CodeType) -> set[str]:
    """Return the dotted names that bytecode imports, also inside functions and classes."""
    found, module = set(), ""
    for instruction in dis.get_instructions(code):
        if instruction.opname == "IMPORT_NAME":
            module = instruction.argval
            found.add(module)
        elif instruction.opname == "IMPORT_FROM":
            found.add(f"{module}.{instruction.argval}")
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    named = [text.partition(":")[0] for text in texts(code.co_consts) if ":" in text]
    return found.union(named, *map(imported, inner))


def texts(constants: tuple) -> list[str]:
    """Return the strings among the constants, also those in tuples."""
    found = [text for one in constants if isinstance(one, tuple) for text in texts(one)]
    return found + [one for one in constants if isinstance(one, str)]


@cache
def reached(name: str) -> frozenset[str]:
    """Return a source and all sources that it reaches by imports, directly or not."""
    found, waiting = {name}, [name]
    while waiting:
        for place in direct(waiting.pop()) - found:
            found.add(place)
            waiting.append(place)
    return frozenset(found)


@cache
def direct(name: str) -> frozenset[str]:
    """Return the modules that a source imports itself; importing a module runs its packages too."""
    names = imported(compiled(name))
    places = {parent for one in names for parent in (one, *parents(one))}
    return frozenset(place for place in places if place in MODULES and place not in NEUTRAL)


def parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts))]


@pytest.mark.parametrize("folder", sorted({script.split("/")[1] for script in SCRIPTS}))
def test_closures_are_what_bytecode_imports(folder):
    for script in SCRIPTS:
        if script.startswith(f"workflow_scripts/{folder}"):
            assert PROJECT.closure(script) == reached(script), script


def test_an_edit_of_a_module_moves_the_scripts_that_reach_it_and_no_others():
    """Each module of the library is edited in turn; the scripts reach few or many modules."""
    scripts = sorted(SCRIPTS, key=lambda script: len(reached(script)))[::12]
    before = {script: PROJECT.fingerprint(script) for script in scripts}
    for module in MODULES:
        edited = replace(PROJECT.sources[module], version="edited")
        project = Project({**PROJECT.sources, module: edited}, PROJECT.data)
        moved = {script for script in scripts if project.fingerprint(script) != before[script]}
        assert moved == {script for script in scripts if module in reached(script)}, module


def test_a_closure_holds_what_importing_really_loads():
    module = "weebill.corpus.cleaning.clean"
    show = f"import sys, {module}; print(*(name for name in sys.modules if 'weebill' in name))"
    command = [sys.executable, "-c", show]
    loaded = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, check=True)
    assert {*loaded.stdout.split()} - NEUTRAL.keys() <= PROJECT.closure(module)


def test_neutral_modules_exist_and_have_a_reason():
    assert NEUTRAL.keys() <= {*MODULES}
    assert all(NEUTRAL.values())


def test_data_files_belong_to_the_modules_that_name_them():
    holders = {path: [] for path in PROJECT.data}
    for module in MODULES:
        for path in PROJECT.data_of(module):
            holders[path].append(module)
    assert [path for path, modules in holders.items() if len(modules) != 1] == []
    assert holders[ENGINE] == ["weebill_runtime.engines"]
    assert holders["weebill/report/papers/wngt2020_table1.csv"] == ["weebill.report.papers"]


@pytest.fixture
def project(tmp_path):
    """Return a function that writes the files of a small project, read by `read_project`."""

    def write(files: dict[str, str], seconds_ago: float = 60) -> Project:
        changed = time.time() - seconds_ago
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            os.utime(path, (changed, changed))
        return read_project(tmp_path)

    return write


SMALL = {
    "weebill/__init__.py": "",
    "weebill/part.py": "def double(x):\n    return 2 * x\n",
    "weebill/lazy.py": "def late():\n    import weebill.part\n",
    "weebill/typed.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import weebill.part\n",
    "weebill/table.py": "TABLE = {'part': 'weebill.part:double'}\n",
    "weebill/deep/__init__.py": "",
    "weebill/deep/reader.py": "from pathlib import Path\nPath(__file__).parent / 'tables'\n",
    "weebill/deep/tables/numbers.csv": "1",
    "weebill/deep/engine.py": "def multiply():\n    import weebill_runtime.engines\n",
    "runtime/weebill_runtime/engines.py": "",
    "workflow_scripts/run.py": "from weebill import lazy\n",
}


def test_lazy_imports_count_and_those_for_types_do_not(project):
    small = project(SMALL)
    assert "weebill.part" in small.closure("workflow_scripts/run.py")
    assert small.closure("weebill.typed") == {"weebill", "weebill.typed"}


def test_tables_of_names_count_unless_the_choice_is_named(project, monkeypatch):
    files = {**SMALL, "weebill/chooses.py": "import weebill.table\n"}
    assert "weebill.part" in project(files).closure("weebill.chooses")
    monkeypatch.setitem(NEUTRAL, "weebill.table", "the choice is named")
    assert project(files).closure("weebill.chooses") == {"weebill", "weebill.chooses"}


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ('"""Doc."""\ndef double(x):\n    """Twice."""\n    return 2 *  x  # so\n', True),
        ("def double(x):\n    return 3 * x\n", False),
    ],
    ids=["comments, layout and docstrings", "statements"],
)
def test_what_counts_of_a_module(project, text, same):
    before = project(SMALL).fingerprint("workflow_scripts/run.py")
    after = project({"weebill/part.py": text}, 30).fingerprint("workflow_scripts/run.py")
    assert (after == before) is same


def test_data_files_count_with_the_module_that_names_them(project):
    before = project(SMALL)
    after = project({"weebill/deep/tables/numbers.csv": "2"}, 30)
    assert after.fingerprint("weebill.deep.reader") != before.fingerprint("weebill.deep.reader")
    assert after.fingerprint("weebill.deep") == before.fingerprint("weebill.deep")


def test_the_sources_of_the_installed_engine_count_where_it_is_imported(
    project, monkeypatch, tmp_path
):
    before = project(SMALL)
    record = tmp_path / "sources.sha256"
    record.write_text("0  engine/linear.h\n")
    installed = SimpleNamespace(origin=str(tmp_path / "_processor.so"))
    monkeypatch.setattr(import_closure, "find_spec", lambda name: installed)
    after = project({})
    assert after.fingerprint("weebill.deep.engine") != before.fingerprint("weebill.deep.engine")
    assert after.fingerprint("weebill.deep.reader") == before.fingerprint("weebill.deep.reader")
    record.write_text("0  engine/linear.h\n1  weebill_runtime/engines.py\n")  # has its own hash
    assert project({}).fingerprint("weebill.deep.engine") == after.fingerprint(
        "weebill.deep.engine"
    )


def test_a_new_time_or_place_changes_nothing(project, tmp_path):
    first = project(SMALL, 60).fingerprint("weebill.lazy")
    assert project(SMALL, 30).fingerprint("weebill.lazy") == first
    (tmp_path / "copy").mkdir()
    (tmp_path / "weebill").rename(tmp_path / "copy/weebill")
    assert read_project(tmp_path / "copy").fingerprint("weebill.lazy") == first


def test_what_was_read_is_remembered_until_it_changes(project, monkeypatch, tmp_path):
    """Size and modification time identify a file, except for files that were read just after a change."""
    parsed = []
    parse = import_closure.ast.parse
    monkeypatch.setattr(
        import_closure.ast, "parse", lambda text, **kw: parsed.append(text) or parse(text, **kw)
    )
    project(SMALL)
    total = len(parsed)
    first = project({}).fingerprint("weebill.part")
    assert len(parsed) == total == 10
    changed = [
        project(files, 30).fingerprint("weebill.part") for files in ({"weebill/part.py": "x"}, {})
    ]
    assert {first, *changed} == {first, changed[0]} and len(parsed) == total + 1
    project({"weebill/part.py": "y"}, 0), project({})
    assert len(parsed) == total + 3
    Path(tmp_path / import_closure.KNOWN).write_text("{")  # damaged
    assert project(SMALL).fingerprint("weebill.part") == first


def test_relative_imports_are_refused(project):
    with pytest.raises(InputError, match=r"weebill/part.py, line 1: relative import"):
        project({**SMALL, "weebill/part.py": "from . import lazy\n"})


def test_unknown_starts_are_named(project):
    with pytest.raises(InputError, match=r"'weebill.prat'.*did you mean 'weebill.part'"):
        project(SMALL).closure("weebill.prat")
