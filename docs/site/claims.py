"""The README's table of measured claims, from committed results.  `python -m docs.site.claims` writes it anew."""

import json
import re
import sys
from collections.abc import Iterator

from docs.site.contents import REPOSITORY
from docs.site.measured import row_of

README = REPOSITORY / "README.md"
TABLE = re.compile(r"(<!-- claims -->\n).*?(<!-- end of claims -->)", re.DOTALL)
HEAD = "| claim | measured | how |\n|---|---|---|\n"

COMET_LARGE = "COMET of XLM-R's large shape, newstest2021 en-de, 21 segments"

Cells = dict[str, str]


def with_claims(text: str) -> str:
    """Return the README's text with its table of claims made anew."""
    rows = "".join(f"| {' | '.join(row)} |\n" for row in claims())
    return TABLE.sub(lambda match: f"{match[1]}{HEAD}{rows}{match[2]}", text)


def claims() -> Iterator[tuple[str, str, str]]:
    """Yield each claim, what was measured of it, and links to the measurement."""
    teacher, student = (
        _row("multi30k.md", {"Variant": name, "Test set": "test_2016_flickr"})
        for name in ("teacher/beam-8/float32", "multi30k.tiny/unpruned/int8")
    )
    yield (
        "A student in int8 keeps most of its teacher's quality (Multi30k, en-de).",
        f"BLEU {_first(student['BLEU'])}, the teacher's {_first(teacher['BLEU'])}; "
        f"{_first(student['MiB'])} MiB, the teacher's {_first(teacher['MiB'])}",
        "[experiment](docs/results/multi30k.md)",
    )
    shortlist = "int8 with shortlist"
    vnni = _row(
        "multi30k.md",
        {"Claim": f"tiny, vnni: {shortlist}, against CTranslate2 (AVX512, oneDNN, batch 8)"},
    )
    amx = row_of("runtime/rows.json", f"tiny, amx: {shortlist}")
    avx2 = row_of("benchmarks.json", f"tiny, avx2: {shortlist}")
    yield (
        "The engine translates faster than CTranslate2 (Tiny in int8, one core).",
        f"{amx.ratio:.2f} times with AMX, {vnni['Ours / other, median']} times with VNNI, "
        f"{avx2.ratio:.2f} times with AVX2",
        "[AMX](docs/results/runtime.md), [VNNI](docs/results/multi30k.md), [AVX2](docs/results/benchmarks.json)",
    )
    large = row_of("metric/rows.json", f"{COMET_LARGE}, 8 together, float32")
    [difference] = re.findall(r"differ by at most ([0-9.e-]+)", large.claim)
    yield (
        "COMET scores are unbabel-comet's, but sooner (8 systems, XLM-R large, float32, one core with AMX).",
        f"{large.ratio:.2f} times as fast; scores differ by at most {difference}",
        "[benchmark](docs/results/metric.md)",
    )
    before, bart = (
        _row("generation-small.md", {"Variant": name}, "ROUGE-L")
        for name in ("bart/fine-tuned", "bart/fine-tuned/distilled/pruned/trained-int8/int8")
    )
    yield (
        "A small BART stays good when it is distilled, pruned and quantized (BBC news).",
        f"ROUGE-L {_first(bart['ROUGE-L'])}, before {_first(before['ROUGE-L'])}; {_first(bart['MiB'])} MiB, before "
        f"{_first(before['MiB'])}; {_first(bart['s an example'])} s a text, before {_first(before['s an example'])}",
        "[experiment](docs/results/generation-small.md)",
    )
    yield (
        "Training is faster than with transformers (one H100, bfloat16).",
        f"{_ratios('training tiny,')} times (Tiny), {_ratios('training teacher_x3,')} times (teacher)",
        "[benchmark](docs/results/gpu/h100.json)",
    )


def _ratios(start: str) -> str:
    """Return the range of the ratios in gpu/h100.json whose names begin so."""
    rows = json.loads((REPOSITORY / "docs/results/gpu/h100.json").read_text("utf-8"))["rows"]
    ratios = [row["ratio"] for row in rows if row["name"].startswith(start)]
    return f"{min(ratios):.2f} to {max(ratios):.2f}"


def _row(page: str, wanted: Cells, column: str = "") -> Cells:
    """Return the first row of a page's tables with these cells, in a table with this column."""
    for row in _rows((REPOSITORY / "docs/results" / page).read_text("utf-8")):
        if wanted.items() <= row.items() and (not column or column in row):
            return row
    raise LookupError(f"docs/results/{page}: no row with {wanted}; name one that is there")


def _rows(text: str) -> Iterator[Cells]:
    """Yield the rows of all Markdown tables of a text, as cells by column."""
    header: list[str] = []
    for line in text.splitlines():
        if not line.startswith("|"):
            header = []
            continue
        cells = [cell.strip().strip("*") for cell in line.strip().strip("|").split("|")]
        if not header:
            header = cells
        elif not set("".join(cells)) <= set(":- "):
            yield dict(zip(header, cells, strict=False))


def _first(cell: str) -> str:
    """Return a cell's number, without the difference in brackets behind it."""
    return cell.split()[0]


if __name__ == "__main__":
    text = README.read_text("utf-8")
    if (made := with_claims(text)) != text:
        README.write_text(made, "utf-8")
        print(README.name, file=sys.stderr)
