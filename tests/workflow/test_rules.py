"""Rules fit their scripts: every rule gives the parameters that its script reads."""

import ast
import re
from pathlib import Path

from tests.workflow.running import REPOSITORY

# A rule in a loop has no name in the text: its position serves as the name.
RULE = re.compile(
    r"^ *(?:(?:use rule (?P<base>\w+) as|rule) (?P<name>\w+)(?: with)?|rule):$", re.MULTILINE
)
SECTION = re.compile(r"^( +)(?P<name>\w+):(?P<body>.*(?:\n(?:\1 +.*)?)*)", re.MULTILINE)
READ = re.compile(r"\bparams\.(?!get\b)(\w+)")


def rules() -> dict[str, tuple[Path | None, set[str]]]:
    """Return each rule's script and the names of its parameters, including those of its base rule."""
    written = {}
    for file in (REPOSITORY / "rules").rglob("*.smk"):
        text = file.read_text("utf-8")
        parts = [*RULE.finditer(text)]
        for part, end in zip(parts, [*(one.start() for one in parts[1:]), len(text)], strict=False):
            sections = {one["name"]: one["body"] for one in SECTION.finditer(text, part.end(), end)}
            written[part["name"] or f"{file.name}:{part.start()}"] = file, part["base"], sections

    def whole(name: str) -> tuple[Path | None, set[str]]:
        file, base, sections = written[name]
        script, names = whole(base) if base else (None, set())
        if "script" in sections:
            [place] = re.findall(r'"(.+)"', sections["script"])
            script = (file.parent / place).resolve()
        return script, names | names_in(sections.get("params", "")) | {"code"}

    return {name: whole(name) for name in written}


def names_in(section: str) -> set[str]:
    """Return the names of a section's keywords."""
    call = ast.parse(f"f({section.strip()}\n)", mode="eval").body
    return {one.arg for one in call.keywords}


def test_every_parameter_that_a_script_reads_is_given():
    """Rules of several kinds of experiments share a script, and short tests run only some of these rules."""
    scripts = {name: rule for name, rule in rules().items() if rule[0] is not None}
    assert len(scripts) > 100
    missing = {
        name: absent
        for name, (script, given) in scripts.items()
        if (absent := set(READ.findall(script.read_text("utf-8"))) - given)
    }
    assert missing == {}
