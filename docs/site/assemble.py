"""Assemble the site's pages: those of the repository with other links, and those generated from code and data.

`python -m docs.site.assemble FOLDER` writes them for Sphinx.  Generated text replaces all between
`<!-- generated: NAME -->` and `<!-- end of generated -->`, which readers of the file see instead.
"""

import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from docs.site import command_line, interface, measured, printed
from docs.site.contents import PLACES, REPOSITORY, page_of, sections, sources
from docs.site.links import rewrite

GENERATED: dict[str, Callable[[], str]] = {
    "command line": command_line.page,
    "python": interface.page,
    "claims": printed.claims_page,
    "tables": printed.tables_page,
}
MARKER = re.compile(r"<!-- generated: (.+?) -->.*?<!-- end of generated -->", re.DOTALL)
MEASURED: dict[str, Callable[[], str]] = {
    "docs/results/benchmarks.json": measured.benchmarks_page,
    "docs/results/gpu/h100.json": measured.gpu_page,
}
FILES = "files"  # folder of the site with copies of linked files that are no pages


def assemble(folder: Path) -> None:
    """Write all pages, and the files that they link to, into a new folder."""
    shutil.rmtree(folder, ignore_errors=True)
    for file, page in sources().items():
        text = (REPOSITORY / file).read_text("utf-8")
        text = rewrite(text, file, page, lambda path: _in_site(path, folder))
        text = MARKER.sub(lambda match: GENERATED[match[1]](), text)
        text = text if text.startswith("# ") else f"# {_title(page)}\n\n{text}"
        _write(folder / page, text + (_contents() if page == "index.md" else ""))
    for file, made in MEASURED.items():
        _write(folder / PLACES[file], made())


def _in_site(path: str, folder: Path) -> str | None:
    """Return the place in the site of a file of the repository; a file that is no page is copied there."""
    if page := page_of(path):
        return page
    file = REPOSITORY / path
    if file.is_dir():
        return None
    if not file.is_file():
        raise ValueError("no such file; name a file of this repository")
    if file.suffix == ".md":
        raise ValueError("no page of the site; give it a place in docs/site/contents.py")
    place = path.removeprefix("docs/") if path.startswith("docs/") else f"{FILES}/{path}"
    copy = folder / place
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, copy)
    return place


def _title(page: str) -> str:
    """Return a title for a table that the workflow wrote without one: "Noise: cleaning students"."""
    *folders, name = page.removesuffix(".md").split("/")
    title = folders[1].capitalize()
    return title if name == folders[1] else f"{title}: {name.replace('_', ' ')}"


def _contents() -> str:
    """Return the tables of contents of the side bar."""
    parts = []
    for caption, pages in sections().items():
        listed = "\n".join(pages)
        parts.append(f"\n```{{toctree}}\n:caption: {caption}\n:hidden:\n\n{listed}\n```\n")
    return "".join(parts)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


if __name__ == "__main__":
    assemble(Path(sys.argv[1]))
