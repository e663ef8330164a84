"""Students in Firefox's files: size, speed, quality and tags in Bergamot and in our engine.

Both engines read the same files, on one core.  Students that do not fit into these files run only in our engine.
"""

import gzip
import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from sacrebleu.metrics import CHRF

from weebill.benchmarks.opponent import Opponent
from weebill.benchmarks.runtime.marian_workers import BODIES, COMMON
from weebill.bleu import bleu
from weebill.errors import InputError
from weebill.evaluation.quality.translation_quality import TestSet, score_both
from weebill.evaluation.timing.timer import rates_in_turn
from weebill.files import read_json
from weebill.runtime.exports.marian import firefox, int8_tensors
from weebill.runtime.exports.marian.files import unpacked
from weebill.runtime.text import load_runtime
from weebill_runtime.architecture import Architecture
from weebill_runtime.options import SearchOptions

BERGAMOT, OURS = "bergamot", "Weebill"
BATCH_SIZE = 32
TAG = re.compile(r"<[^>]+>")
Translate = Callable[[list[str]], list[str]]


@dataclass(frozen=True)
class Entrant:
    """Student to measure; all others are compared with the first.

    files: folder of Firefox's files; None if they cannot hold the student.  Then `model` is its model folder, and
    `shortlist` its shortlist or None.
    """

    name: str
    files: str | None
    model: str | None = None
    shortlist: str | None = None


class _InBergamot(Opponent):
    """Bergamot in a separate process, with one student.  Raises InputError if `python` cannot run it."""

    def __init__(self, python: Path, files: Path, folder: Path):
        folder.mkdir()
        body = COMMON + BODIES[BERGAMOT]
        super().__init__(python, body, folder=folder, option="bergamot's", environment=BERGAMOT)
        found = firefox.find(files)
        vocabulary = found.vocabulary
        names = [found.model, found.source_vocabulary or vocabulary, vocabulary, found.shortlist]
        for number, path in enumerate(names):
            if path is not None and path.suffix == ".gz":
                names[number] = folder / path.stem
                names[number].write_bytes(unpacked(path))
        model, *vocabularies, shortlist = [path and str(path.absolute()) for path in names]
        self._options = {**firefox.DECODING, "models": [model], "vocabs": vocabularies}
        del self._options["relative-paths"]
        self._options |= {"shortlist": [shortlist, False]} if shortlist else {}
        self._options["ssplit-mode"] = "sentence"
        self.load()

    def load(self, html: bool = False) -> None:
        """Load the student, for plain text or for pages."""
        self.work(["load", {**self._options, "html": html}])

    def translate(self, lines: list[str]) -> list[str]:
        """Translate lines, and keep them as the text to time."""
        self.work(["keep", [lines]])
        return self.work(["translate", lines])


def page(lines: Sequence[str]) -> list[str]:
    """Return lines as HTML, with the second word bold, the fourth and fifth in a link, and the last slanted."""
    marked = []
    for number, line in enumerate(lines):
        words = [
            w.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") for w in line.split()
        ]
        if len(words) > 5:
            words[3:5] = [f'<a href="#{number}">{words[3]} {words[4]}</a>']
        if len(words) > 2:
            words[1], words[-1] = f"<b>{words[1]}</b>", f"<i>{words[-1]}</i>"
        marked.append(f"<p>{' '.join(words)}</p>")
    return marked


def tags(line: str) -> list[str]:
    """Return the tags of a line in alphabetic order, because words change places in translation."""
    return sorted(TAG.findall(line))


def files_bytes(folder: str) -> dict[str, int]:
    """Return the unpacked bytes of each of a student's files, and the bytes of all together after gzip."""
    found = asdict(firefox.find(folder))
    contents = {kind: unpacked(path) for kind, path in found.items() if path is not None}
    sizes = {kind: len(content) for kind, content in contents.items()}
    return {**sizes, "gzip": sum(len(gzip.compress(one, mtime=0)) for one in contents.values())}


def refusal(model: str) -> str:
    """Return why Firefox's files cannot hold a model folder without padding by zeros."""
    shape = Architecture.from_dict(read_json(Path(model) / "config.json")["architecture"])
    try:
        int8_tensors.even_shape(shape, pad=False)
    except InputError as error:
        return str(error)
    return "it was not exported; add it to `exports`"


def measure(
    entrants: Sequence[Entrant],
    test_sets: Sequence[TestSet],
    python: str | Path,
    rounds: int,
    bootstrap: int,
    target: str,
) -> list[dict[str, Any]]:
    """Return a row for each entrant, with a row for each engine in `engines`, as plain values.

    python: Python of Bergamot's environment.  If it is missing, the rows have no `bergamot`.
    """
    sources = [line for one in test_sets for line in one.sources]
    references = [line for one in test_sets for line in one.references]
    words = sum(len(line.split()) for line in sources)
    rows, works, translations = [], {}, {}
    with TemporaryDirectory() as place, ExitStack() as stack:
        for number, entrant in enumerate(entrants):
            folder = Path(place, str(number))
            row: dict[str, Any] = {"name": entrant.name, "engines": {}}
            if entrant.files is None:
                row["refusal"] = refusal(entrant.model)
                ours = load_runtime(entrant.model, shortlist=entrant.shortlist)
            else:
                row["bytes"] = files_bytes(entrant.files)
                ours = _imported(entrant.files, folder)
                if Path(python).exists():
                    theirs = _InBergamot(Path(python), Path(entrant.files), folder / "bergamot")
                    stack.enter_context(theirs)
                    row["tags"] = _tags(theirs, sources)
                    translations[BERGAMOT, number] = theirs.translate(sources)
                    works[BERGAMOT, number] = partial(theirs.work, ["time"])
            translate = partial(ours.translate, sources, SearchOptions(batch_size=BATCH_SIZE))
            translations[OURS, number], works[OURS, number] = translate(), translate
            rows.append(row)
        rates = rates_in_turn(works, words, rounds)
    for (engine, number), found in translations.items():
        own = rates[engine, number]
        rows[number]["engines"][engine] = {
            "words_per_second": median(own),
            "slowest": min(own),
            "fastest": max(own),
            "scores": _scores(found, translations[engine, 0], references, bootstrap, target),
        }
    first = next((row["tags"]["pages"] for row in rows if "tags" in row), [])
    for number, row in enumerate(rows):
        if "tags" in row:
            alike = [translations[BERGAMOT, n] for n in (0, number)]
            row["tags"] = _counted(row["tags"], first, *alike)
    return rows


def _imported(files: str, folder: Path) -> Any:
    folder.mkdir()
    shortlist = folder / "lists" if firefox.find(files).shortlist else None
    firefox.import_student(files, folder / "model", int8=True, shortlist=shortlist)
    return load_runtime(folder / "model", shortlist=shortlist)


def _tags(engine: _InBergamot, sources: list[str]) -> dict[str, Any]:
    """Translate a page; return its translation and the number of lines with the same tags as their source."""
    given = page(sources)
    engine.load(html=True)
    found = engine.translate(given)
    engine.load()
    kept = sum(tags(one) == tags(other) for one, other in zip(found, given, strict=True))
    return {"pages": found, "lines": len(given), "kept": kept}


def _counted(
    own: dict[str, Any], first: list[str], plain_first: list[str], plain: list[str]
) -> dict[str, int]:
    """Count the lines with the same plain translation as by the first student; among them, count equal HTML."""
    same = [
        one == other
        for one, other, text, before in zip(own["pages"], first, plain, plain_first, strict=True)
        if text == before
    ]
    return {
        "lines": own["lines"],
        "kept": own["kept"],
        "same_text": len(same),
        "same_page": sum(same),
    }


def _scores(
    found: list[str], first: list[str], references: list[str], bootstrap: int, target: str
) -> list[dict[str, Any]]:
    rows = []
    for metric in (bleu(target), CHRF()):
        score, other, difference = score_both(metric, found, first, references, bootstrap)
        rows.append(
            {
                **asdict(score),
                "difference": score.score - other.score,
                "difference_low": difference.low,
                "difference_high": difference.high,
                "p_value": difference.p_value,
            }
        )
    return rows
