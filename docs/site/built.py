"""Check a built site: every local link leads to a file and a place in it, and nothing is fetched from elsewhere.

`python -m docs.site.built FOLDER` prints what is wrong, and then ends with code 1.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {"img": "src", "script": "src", "link": "href", "source": "src", "iframe": "src"}
PLAIN_LINKS = ("canonical", "next", "prev")  # of <link>, which a browser does not fetch


@dataclass
class _Page(HTMLParser):
    """Links, addresses that a browser fetches, and places of a page."""

    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)
    places: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.places |= {value for name in ("id", "name") if (value := values.get(name))}
        if tag == "a" and (target := values.get("href")):
            self.links.append(target)
        if (
            tag in FETCHED
            and (target := values.get(FETCHED[tag]))
            and values.get("rel") not in PLAIN_LINKS
        ):
            self.fetched.append(target)


def faults(folder: Path) -> Iterator[str]:
    """Yield a line for each link without a target, and each file that is fetched over a network."""
    pages = {}
    for path in sorted(folder.rglob("*.html")):
        pages[path] = _Page()
        pages[path].feed(path.read_text("utf-8"))
    for path, page in pages.items():
        for target in page.fetched:
            if urlsplit(target).scheme not in ("", "data"):
                yield f"{path}: fetches {target}; put a copy into the site"
        for target in (*page.links, *page.fetched):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not there.is_file():
                yield f"{path}: links to {target}, which is not there"
            elif (
                parts.fragment
                and there in pages
                and unquote(parts.fragment) not in pages[there].places
            ):
                yield f"{path}: links to {target}, but the page has no such place"


if __name__ == "__main__":
    found = list(faults(Path(sys.argv[1]).resolve()))
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(bool(found))
