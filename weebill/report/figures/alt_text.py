"""Alternative text of pictures, for screen readers; this module imports less than `drawing`."""

import re
from html import escape, unescape
from pathlib import Path


def with_alt_text(svg: str, text: str) -> str:
    """Return an SVG with an alternative text."""
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(text)}" ', 1)


def alt_text(svg: str) -> str:
    """Return the alternative text of an SVG; "" if it has none."""
    found = re.search(r'<svg [^>]*aria-label="([^"]*)"', svg)
    return unescape(found[1]) if found else ""


def picture(link: str, file: str | Path) -> str:
    """Return a picture in Markdown, with the alternative text of its file."""
    text = alt_text(Path(file).read_text(encoding="utf-8"))
    return f"![{text.replace('[', '(').replace(']', ')')}]({link})"
