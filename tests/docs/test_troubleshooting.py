"""The code writes every message that the page of troubleshooting quotes."""

import ast
import re

import pytest

from tests.docs.snippets import REPOSITORY

PAGE = (REPOSITORY / "docs/troubleshooting.md").read_text("utf-8")
MESSAGES = re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE)


@pytest.fixture(scope="module")
def written() -> list[str]:
    """Return the strings in the code, with … for each value in them, and the text of the install script."""
    texts = [(REPOSITORY / "envs/install.sh").read_text("utf-8")]
    for folder in ("weebill", "runtime/weebill_runtime"):
        for path in (REPOSITORY / folder).rglob("*.py"):
            texts += map(_text, ast.walk(ast.parse(path.read_text("utf-8"))))
    return [text for text in texts if text]


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or "…" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


@pytest.mark.parametrize("message", MESSAGES)
def test_the_code_writes_the_message(message, written):
    parts = [part.strip() for part in message.split("…") if len(part.strip()) > 3]
    pattern = re.compile(".*".join(map(re.escape, parts)), re.DOTALL)
    assert parts and any(pattern.search(text) for text in written)


def test_the_page_quotes_messages():
    assert len(MESSAGES) > 40
