"""Alternative text of pictures, for readers that hear a page; apart from drawing, which imports much."""

import re
from html import escape, unescape
from pathlib import Path


def with_alt_text(svg: str, text: str) -> str:
    """Return an SVG that tells what it shows."""
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(text)}" ', 1)


def alt_text(svg: str) -> str:
    """Return what an SVG tells about itself; "" if it tells nothing."""
    found = re.search(r'<svg [^>]*aria-label="([^"]*)"', svg)
    return unescape(found[1]) if found else ""


def picture(link: str, file: str | Path) -> str:
    """Return a picture in Markdown, with the alternative text of its file."""
    text = alt_text(Path(file).read_text(encoding="utf-8"))
    return f"![{text.replace('[', '(').replace(']', ')')}]({link})"
