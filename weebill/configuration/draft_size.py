"""Rows, bytes and characters of a user's text, and the pieces of a vocabulary that fit them."""

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from weebill.configuration.cost import SIDE_BYTES
from weebill.configuration.schema import Config
from weebill.corpus.download import is_url
from weebill.errors import InputError
from weebill.experiment.origins import PREFIX
from weebill.text_files import read_lines

VOCABULARY_BYTES = 50  # bytes of text needed per piece
BYTE_PIECES = 260  # pieces that are no letters, such as bytes
LEAST_PIECES = 360  # smallest vocabulary
# Share of a text's characters that get pieces of their own (`vocabulary.character_coverage`), and lines that are
# counted.
COVERAGE, COUNTED = 0.9995, 100_000
# Such characters in text that is fetched later, by script; other scripts have few.
CHARACTERS = {"Hani": 4500, "Hang": 1700}


class Size(NamedTuple):
    """Rows of text, and bytes and characters of its source and target; no characters if it is fetched later."""

    rows: int
    bytes: tuple[int, int]
    characters: tuple[Counter[str], Counter[str]] = (Counter(), Counter())


def size_of(name: str, entry: Config, pairs: int | None) -> Size:
    """Return the rows and bytes of a corpus, counted in local files or else estimated from `pairs`."""
    files = [entry[key] for key in ("table", "source", "target") if key in entry]
    absent = [file for file in files if not Path(file).is_file()]
    for file in absent:
        if not is_url(file) and not file.startswith(PREFIX):
            raise InputError(f"{file}: no such file; check the path")
    if absent or not files:
        if pairs is None:
            raise InputError(
                f"corpora.{name}: its size is not known before it is fetched; give the number of its pairs by --pairs"
            )
        side = pairs * SIDE_BYTES
        return Size(pairs, (side, 0 if "use" in entry else side))
    counts = {file: _count(file, "table" in entry) for file in files}
    rows = {size.rows for size in counts.values()}
    if len(rows) > 1:
        told = " and ".join(f"{file} has {size.rows:,} lines" for file, size in counts.items())
        raise InputError(
            f"corpora.{name}: {told}; the sides of a corpus must have one line per pair"
        )
    if len(counts) == 1:  # a table, or text of one language
        return counts[files[0]]
    source, target = counts.values()
    characters = source.characters[0], target.characters[0]
    return Size(source.rows, (source.bytes[0], target.bytes[0]), characters)


def _count(file: str, table: bool) -> Size:
    """Count the lines of a file; its text is the source, that of a table also the target."""
    rows, sizes, characters = 0, [0, 0], (Counter(), Counter())
    for line in read_lines(file):
        rows += 1
        if table and "\t" not in line:
            raise InputError(
                f"{file}:{rows}: no tab; a table has the source and the target in two columns"
            )
        for side, text in enumerate(line.split("\t")[:2] if table else [line]):
            sizes[side] += len(text.encode())
            if rows <= COUNTED:
                characters[side].update(text)
    if not rows:
        raise InputError(f"{file}: empty file; a corpus has at least one line")
    return Size(rows, tuple(sizes), characters)


def together(sizes: Sequence[Size]) -> Size:
    """Add up the sizes of several texts."""
    rows, sides, characters = zip(*sizes, strict=True)
    counted = (sum(side, Counter()) for side in zip(*characters, strict=True))
    return Size(sum(rows), tuple(map(sum, zip(*sides, strict=True))), tuple(counted))


def pieces(usual: int, size: int, characters: Counter[str], scripts: Collection[str]) -> int:
    """Return the pieces for `size` bytes of text, at most the usual number, but one for each common character.

    scripts: those of text that is not counted in `characters`.
    """
    common, left = 0, COVERAGE * characters.total()
    for _, count in characters.most_common():
        if left <= 0:
            break
        common, left = common + 1, left - count
    common = max([common, *(CHARACTERS.get(script, 0) for script in scripts)])
    least = BYTE_PIECES + common
    wanted = (least + size // VOCABULARY_BYTES) // 100 * 100
    return max(LEAST_PIECES, least, min(usual, wanted))
