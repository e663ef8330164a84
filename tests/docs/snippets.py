"""Commands in the documents: lines of code blocks, and code in text."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")
SHELL = ("", "sh", "bash", "console")
PROGRAMS = ("weebill", "make", "snakemake", "python", "pip", "envs/install.sh")


def pages() -> list[str]:
    """Return the documents that people write: all Markdown files except results and files in folders of code."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=REPOSITORY, capture_output=True, check=True, text=True,
    )  # fmt: skip
    apart = ("docs/results/", "tests/", "weebill/", "workflow_scripts/")
    return [name for name in listed.stdout.split("\0") if name and not name.startswith(apart)]


def blocks(name: str, *languages: str) -> list[str]:
    """Return the code blocks of a document in one of these languages."""
    text = (REPOSITORY / name).read_text("utf-8")
    return [code for language, code in BLOCK.findall(text) if language in languages]


def commands(name: str) -> Iterator[list[str]]:
    """Yield the words of each command of a document: whole shell lines, and code in text if it has options."""
    for block in blocks(name, *SHELL):
        for line in re.sub(r"\\\n\s*", "", block).splitlines():
            yield from parts(line)
    text = BLOCK.sub("", (REPOSITORY / name).read_text("utf-8"))
    for span in SPAN.findall(text):
        if span.split()[0] in PROGRAMS and " -" in span:
            yield from parts(span)


def commented(path: Path) -> Iterator[list[str]]:
    """Yield the words of each command in a configuration's comments, on separate lines or in backticks."""
    comments = re.findall(r"#[ ]?(.*)", path.read_text("utf-8"))
    text = re.sub(r"\\\n\s*", "", "\n".join(comments))
    spans = [span for span in SPAN.findall(text) if span.split()[0] in PROGRAMS]
    lines = [one for one in text.splitlines() if one.split(" ")[0] in ("weebill", "snakemake")]
    for command in (*spans, *lines):
        yield from parts(command)


def parts(line: str) -> Iterator[list[str]]:
    """Yield the words of each command of a shell line, without comments, redirections and variables."""
    line = re.split(r"(?:^|\s)#\s", line)[0]
    for part in re.split(r"&&|\|(?!\|)", line):
        part = re.sub(r"\s[<>]\s*\S+", "", part)
        words = shlex.split(part)
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
            del words[0]
        if words:
            yield words
