"""Links of pages: in the repository they name files, in the site the pages and copies of these files."""

import posixpath
import re
from collections.abc import Callable

FENCE = re.compile(r"^(```|~~~)[^\n]*\n.*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[([^\[\]]*)\]\((?!\w+:|#|<)([^)\s#]+)(#[^)\s]*)?\)")


def rewrite(text: str, file: str, page: str, target: Callable[[str], str | None]) -> str:
    """Return the text of a page with each relative link to a file changed to what the site has in its place.

    file: path of the text in the repository.  page: path of its page in the site.  target: path in the site of
    a path in the repository, None for a folder, whose link becomes plain text; it raises ValueError for a path that
    the site cannot show.
    """

    def moved(match: re.Match[str]) -> str:
        named = posixpath.normpath(posixpath.join(posixpath.dirname(file), match[2]))
        try:
            there = target(named)
        except ValueError as error:
            raise ValueError(f"{file}: link to {match[2]}: {error}") from error
        if there is None:
            return match[1]
        place = posixpath.relpath(there, posixpath.dirname(page) or ".")
        return f"[{match[1]}]({place}{match[3] or ''})"

    parts, end = [], 0
    for fence in FENCE.finditer(text):
        parts += [LINK.sub(moved, text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, LINK.sub(moved, text[end:])])
