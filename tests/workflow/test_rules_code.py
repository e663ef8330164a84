"""The `code` of each rule names the library modules that its script imports: a change of one reruns the rule."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.workflow.running import REPOSITORY
from tests.workflow.test_rules import BY_SCORE, RULE, SECTION
from weebill.workflow.code_version import LIBRARY, SCORING_PARTS

RULES = REPOSITORY / "rules"
# Modules that no rule need name.
EXEMPT = {
    "corpus.sources": "where files are fetched to; a checksum or a commit tells what they hold",
    "errors": "how a fault is told",
    "files": "reads and writes what it is given",
    "workflow.job": "the log, and how a job ends",
}
# Modules that the rules of one script need not name.
EXEMPT_IN = {
    "corpus/import_corpus.py": {
        "corpus.importers": "`code_parts` names those of the entry",
        "corpus.sources_lock": "an input is the lock",
    },
    "corpus/lock_sources.py": {
        "experiment.corpora": "names the entries, which are a parameter",
    },
    "evaluate/choose_by_mbr.py": {
        "evaluation.quality.translation_quality": "writes a translation a line"
    },
    "evaluate/measure_speed.py": {"report.results": "the word that stands for the teacher"},
    "evaluate/translate_test_set.py": {
        "evaluation.quality.translation_quality": "writes a translation a line"
    },
    "generation/step.py": {
        "experiment.pipelines": "what is checked before the step",
    },
    "teacher/fetch_model.py": {
        "experiment.translating_models": "which languages to look for",
        "translation.model.hugging_face_folder": "checks what was fetched",
    },
}


@cache
def written() -> dict[str, tuple[Path, str | None, dict[str, str]]]:
    """The file of each rule, the rule that it is made of, and its sections."""
    found = {}
    for file in RULES.rglob("*.smk"):
        text = file.read_text("utf-8")
        heads = [*RULE.finditer(text)]
        ends = [*(one.start() for one in heads[1:]), len(text)]
        for head, end in zip(heads, ends, strict=False):
            sections = {one["name"]: one["body"] for one in SECTION.finditer(text, head.end(), end)}
            found[head["name"]] = file, head["base"], sections
    return found


def script_of(name: str) -> Path | None:
    """The script that a rule runs, its own or that of the rule it is made of."""
    file, base, sections = written()[name]
    if "script" in sections:
        [place] = re.findall(r'"(.+)"', sections["script"])
        return (file.parent / place).resolve()
    return script_of(base) if base else None


def code_of(name: str) -> ast.expr | None:
    """The parameter `code` of a rule, its own or that of the rule it is made of."""
    _, base, sections = written()[name]
    parameters = ast.parse(f"f({sections.get('params', '').strip()})", mode="eval").body.keywords
    for parameter in parameters:
        if parameter.arg == "code":
            return parameter.value
    return code_of(base) if base else None


@cache
def fingerprints() -> dict[str, ast.expr]:
    """The expressions that rules share, such as SEARCH_CODE."""
    found: dict[str, ast.expr] = {}
    for file in RULES.rglob("*.smk"):
        for text in re.findall(
            r"^\w+_CODE = code_version\((?:.|\n)*?^\)", file.read_text("utf-8"), re.M
        ):
            [assignment] = ast.parse(text).body
            found[assignment.targets[0].id] = assignment.value
    return found


def parts(expression: ast.AST) -> set[str]:
    """The parts of the library that an expression fingerprints."""
    found = set()
    for node in ast.walk(expression):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
        elif isinstance(node, ast.Name) and node.id == "SCORING_PARTS":
            found.update(SCORING_PARTS)
        elif isinstance(node, ast.Name) and node.id in fingerprints():
            found |= parts(fingerprints()[node.id])
    return found


@cache
def imports(file: Path) -> frozenset[str]:
    """The modules of the library that a file imports, without `weebill.`."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{one.name}" for one in node.names]
            found |= {name if file_of(name) else node.module for name in names}
        elif isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
    return frozenset(name.removeprefix("weebill.") for name in found if file_of(name))


def file_of(module: str) -> Path | None:
    """The file of a module of the library, None of any other."""
    package, *path = module.split(".")
    if package != "weebill" or not path:
        return None
    place = LIBRARY.joinpath(*path)
    files = (place.with_name(f"{place.name}.py"), place / "__init__.py")
    return next((file for file in files if file.is_file()), None)


SCRIPTS = {
    name: script
    for name in written()
    if (script := script_of(name)) is not None
    # It is of all scores, and imports what one of them needs; each rule names its own.
    and script.name != BY_SCORE
}


def test_rules_are_found():
    assert len(SCRIPTS) > 100
    assert {"corpus.table", "translation.search"} <= parts(fingerprints()["SEARCH_CODE"])
    assert parts(code_of("prune_vocabulary")) == {"generation", "hugging_face", "pruning"}
    assert "evaluation.size.metric_size" in imports(SCRIPTS["measure_metric"])


@pytest.mark.parametrize("name", [name for name in SCRIPTS if imports(SCRIPTS[name])])
def test_what_a_script_imports_is_named(name):
    """And by what makes tables and figures, the names of an experiment too, which decide what they show."""
    script = SCRIPTS[name]
    exempt = EXEMPT | EXEMPT_IN.get(f"{script.parent.name}/{script.name}", {})
    needed = imports(script) - exempt.keys()
    if any(module.startswith("report.") for module in needed):
        named = {other for module in needed for other in imports(file_of(f"weebill.{module}"))}
        needed |= {other for other in named if other.startswith("experiment")}
    code = code_of(name)
    given = set() if code is None else parts(code)
    missing = [
        module
        for module in needed
        if not any(module == part or module.startswith(f"{part}.") for part in given)
    ]
    assert sorted(missing) == []


def test_every_exemption_is_needed():
    for place, modules in EXEMPT_IN.items():
        assert modules.keys() <= imports(REPOSITORY / "workflow_scripts" / place), place
