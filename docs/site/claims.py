"""The README's tables of claims, ours and the papers', from committed results.

`python -m docs.site.claims` writes them anew.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator

from docs.site.contents import REPOSITORY
from docs.site.measured import row_of

README = REPOSITORY / "README.md"
TABLE = re.compile(r"(<!-- claims -->\n).*?(<!-- end of claims -->)", re.DOTALL)
HEAD = "| claim | measured | how |\n|---|---|---|\n"
PAPERS_TABLE = re.compile(r"(<!-- papers -->\n).*?(<!-- end of papers -->)", re.DOTALL)
VERDICTS = ("reproduced", "undecided", "not reproduced", "opposite")
PAPERS_HEAD = (
    f"| paper | experiment | {' | '.join(VERDICTS)} |\n|---|---|{'---:|' * len(VERDICTS)}\n"
)
# Paper's name on a page → pages of the experiments that test its claims.
TESTED = {
    "WNGT 2020": ("multi30k", "pruning"),
    "WMT 2021": ("multi30k", "pruning"),
    "COMETINHO": ("metric-small",),
    "TEXTGEN": ("generation-small",),
}

SMALL = "pruned, quantized"  # role of the best small student in the page's first table
COMET_LARGE = "COMET of XLM-R's large shape, newstest2021 en-de, 11 segments"

Cells = dict[str, str]


def with_claims(text: str) -> str:
    """Return the README's text with its table of claims made anew."""
    rows = "".join(f"| {' | '.join(row)} |\n" for row in claims())
    text = TABLE.sub(lambda match: f"{match[1]}{HEAD}{rows}{match[2]}", text)
    counts = "".join(f"| {' | '.join(row)} |\n" for row in verdicts())
    return PAPERS_TABLE.sub(lambda match: f"{match[1]}{PAPERS_HEAD}{counts}{match[2]}", text)


def verdicts() -> Iterator[list[str]]:
    """Yield the numbers of a paper's claims with each verdict, for each experiment that measured one."""
    for paper, pages in TESTED.items():
        for page in pages:
            text = (REPOSITORY / f"docs/results/{page}.md").read_text("utf-8")
            section = text.partition(f"<summary>{paper}: claims</summary>")[2]
            rows = _rows(section.partition("</details>")[0])
            found = Counter(row["Verdict"].split(" (")[0] for row in rows)
            if any(found[verdict] for verdict in VERDICTS):
                numbers = [str(found[verdict]) for verdict in VERDICTS]
                yield [paper, f"[{page}](docs/results/{page}.md)", *numbers]


def claims() -> Iterator[tuple[str, str, str]]:
    """Yield each claim, what was measured of it, and links to the measurement."""
    teacher, student = (_row("multi30k.md", {"Model": role}) for role in ("teacher, beam-8", SMALL))
    same = f"{student['Variant'].rpartition('/')[0]}/float32"
    same_engine = _row("multi30k.md", {"Variant": same}, "Words/s by PyTorch, ×")
    minutes = float(_row("multi30k.md", {"Rule": "all rules"})["Minutes"].replace(",", ""))
    yield (
        "A student, pruned and in int8, is far smaller and faster than its teacher (Multi30k, en-de, one core).",
        f"**{student['× smaller']} times smaller** ({student['MiB']} MiB, the teacher {teacher['MiB']}); "
        f"**{student['Words/s by the runtime, ×']} times as fast** in its own engine, "
        f"{same_engine['Words/s by PyTorch, ×']} times in the teacher's, in float32 (greedily; the teacher's beam is "
        f"8); **BLEU {_first(student['BLEU'])}**, the teacher {_first(teacher['BLEU'])}; all jobs of the experiment "
        f"add up to **{minutes / 60:.1f} hours**",
        "[experiment](docs/results/multi30k.md)",
    )
    shortlist = "int8 with shortlist"
    amx = row_of("runtime/rows.json", f"tiny, amx: {shortlist}")
    vnni = row_of("runtime-vnni/rows.json", f"tiny, vnni: {shortlist}")
    avx2 = row_of("benchmarks.json", f"tiny, avx2: {shortlist}")
    yield (
        "The engine translates faster than CTranslate2, whose decoder has self-attention instead of an SSRU (Tiny in "
        "int8, one core).",
        f"{amx.ratio:.2f} times as fast with AMX, {vnni.ratio:.2f} with VNNI, {avx2.ratio:.2f} with AVX2",
        "[AMX](docs/results/runtime.md), [VNNI](docs/results/runtime-vnni.md), [AVX2](docs/results/benchmarks.json)",
    )
    large = row_of("metric/rows.json", f"{COMET_LARGE}, 8 together, float32")
    [difference] = re.findall(r"differ by at most ([0-9.e-]+)", large.claim)
    yield (
        "COMET scores equal unbabel-comet's and take less time (8 systems, XLM-R large, float32, one core with AMX).",
        f"{large.ratio:.2f} times as fast; scores differ by at most {difference}",
        "[benchmark](docs/results/metric.md)",
    )
    before, bart = (
        _row("generation-small.md", {"Variant": name}, "ROUGE-L")
        for name in ("bart/fine-tuned", "bart/fine-tuned/distilled/pruned/trained-int8/int8")
    )
    times = bart["s an example"], before["s an example"]
    noisy = ", a noisy measurement" if any("~" in one for one in times) else ""
    yield (
        "A small BART loses little when it is distilled, pruned and quantized (BBC news; the beginnings of articles "
        "are better summaries than its own).",
        f"ROUGE-L {_first(bart['ROUGE-L'])} (before: {_first(before['ROUGE-L'])}); {_first(bart['MiB'])} MiB "
        f"({_first(before['MiB'])}); {_first(times[0])} s a text ({_first(times[1])}){noisy}",
        "[experiment](docs/results/generation-small.md)",
    )
    yield (
        "Training is faster than with transformers (one H100, bfloat16).",
        f"{_ratios('training tiny,')} times as fast (Tiny), {_ratios('training teacher_x3,')} times (teacher)",
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
    """Return a cell's number, without the mark of noise and the difference in brackets behind it."""
    return cell.split()[0].rstrip("~")


if __name__ == "__main__":
    text = README.read_text("utf-8")
    if (made := with_claims(text)) != text:
        README.write_text(made, "utf-8")
        print(README.name, file=sys.stderr)
