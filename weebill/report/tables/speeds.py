"""Tables of times: speed and latency of all variants by every engine, and the runtime's benchmark."""

from collections.abc import Sequence

from weebill.evaluation.measurement import Variant, versions_line
from weebill.evaluation.timing.latency import Latency
from weebill.evaluation.timing.speed import PYTORCH, Speed
from weebill.report.lookups import translation as lookup
from weebill.report.results import Results
from weebill.report.table import Cell, Column, Row, Table, delta, fixed, three_digits


def speed_table(results: Results) -> Table:
    """Return words per second of every variant by each engine, on one core and on all, with the rounds' range."""
    columns = (
        Column("variant", "Variant", numeric=False),
        Column("engine", "Engine", numeric=False),
        Column("beam", "Beam"),
        Column("seconds", "Seconds, 1 core", deltas=True),
        Column("wps_1core", "Words/s, 1 core", "median", deltas=True),
        Column("wps_1core_slowest", "Words/s, 1 core", "slowest"),
        Column("wps_1core_fastest", "Words/s, 1 core", "fastest"),
        Column("wps_all", "Words/s, all cores", "median", deltas=True),
        Column("wps_all_slowest", "Words/s, all cores", "slowest"),
        Column("wps_all_fastest", "Words/s, all cores", "fastest"),
    )
    rows = []
    teacher = lookup.teacher(results)
    for variant in lookup.variants(results):
        base = teacher if teacher and variant != teacher else None
        for engine in lookup.engines(results, variant):
            rows.append(_speed_row(results, variant, engine, base))
    return Table(
        "variants",
        "All variants: speed",
        "Source words translated per second, and seconds for the whole text. Loading is not counted.",
        columns,
        tuple(rows),
        tuple(_speed_notes(results.speeds)),
    )


def _speed_row(results: Results, variant: Variant, engine: str, base: Variant | None) -> Row:
    one = lookup.speed(results, variant, engine=engine)

    def seconds(speed: Speed | None) -> str:
        return three_digits(speed.words / speed.words_per_second) if speed else ""

    slower = lookup.speed(results, base) if base else None
    cells = [
        Cell(str(variant)),
        Cell(engine),
        Cell(str(one.beam)),
        Cell(seconds(one), delta(seconds(one), seconds(slower), "ratio")),
    ]
    for all_cores in (False, True):
        speed = lookup.speed(results, variant, all_cores, engine)
        slower = lookup.speed(results, base, all_cores) if base else None
        text = fixed(speed.words_per_second, 0)
        from_text = fixed(slower.words_per_second, 0) if slower else ""
        cells += [
            Cell(text, delta(text, from_text, "ratio")),
            Cell(fixed(speed.slowest, 0)),
            Cell(fixed(speed.fastest, 0)),
        ]
    return Row(tuple(cells), "baseline" if variant == variant.baseline else "plain")


def _speed_notes(speeds: Sequence[Speed]) -> list[str]:
    notes = [f"In brackets: against the teacher with its beam, which is always the {PYTORCH}'s."]
    if not speeds:
        return notes
    first, cores = speeds[0], max(speed.cores for speed in speeds)
    notes.append(
        f"{first.words:,} source words in {first.sentences:,} sentences, batches of {first.batch_size}; "
        f"{len(first.seconds)} rounds, variants and engines interleaved; one core, and {cores} cores with "
        "the text split among them."
    )
    notes += [
        f"{speed.variant}, {speed.engine}, by {speed.processes} x {speed.threads} threads: "
        f"{fixed(speed.words_per_second, 0)} words/s."
        for speed in speeds
        if speed.threads > 1
    ]
    return [*notes, f"{first.hardware}; {versions_line(first.versions)}."]


def latency_table(results: Results) -> Table:
    """Return milliseconds per single sentence, loading time and memory of every variant by each engine."""
    columns = (
        Column("variant", "Variant", numeric=False),
        Column("engine", "Engine", numeric=False),
        Column("beam", "Beam"),
        *(Column(f"{key}_ms", "Latency, ms", key) for key in ("mean", "p50", "p95", "p99")),
        Column("load_seconds", "Loading, s"),
        Column("idle_mib", "Memory, MiB", "before"),
        Column("peak_mib", "Memory, MiB", "peak"),
    )
    rows = [
        Row(
            (
                Cell(row.variant),
                Cell(row.engine),
                Cell(str(row.beam)),
                *(
                    Cell(three_digits(value))
                    for value in (row.mean_ms, row.p50_ms, row.p95_ms, row.p99_ms)
                ),
                Cell(fixed(row.load_seconds, 2)),
                Cell(fixed(row.idle_mib, 0)),
                Cell(fixed(row.peak_mib, 0)),
            ),
            "baseline"
            if Variant.parse(row.variant).baseline == Variant.parse(row.variant)
            else "plain",
        )
        for row in results.latencies
    ]
    return Table(
        "latency",
        "All variants: latency, loading and memory",
        "Milliseconds to translate one sentence alone, the seconds that loading the model takes, and the memory "
        "of the process before it loads and at most.",
        columns,
        tuple(rows),
        tuple(_latency_notes(results.latencies)),
    )


def _latency_notes(latencies: Sequence[Latency]) -> list[str]:
    if not latencies:
        return []
    first = latencies[0]
    return [
        f"{first.sentences:,} sentences on one core, one thread; p50, p95, p99: percentiles. Memory at most: with "
        "a batch of the longest sentences. Python and its libraries are part of it, and are imported before "
        "loading begins.",
        f"{first.hardware}; {versions_line(first.versions)}.",
    ]


def benchmark_table(results: Results) -> Table:
    """Return the rows of `weebill benchmark runtime` from the workflow's file, with the hardware and versions."""
    found = results.engines[0]
    columns = (
        Column("claim", "Claim", numeric=False),
        Column("ours", "Ours"),
        Column("other", "Other"),
        Column("unit", "Unit", numeric=False),
        Column("ratio", "Ours / other", "median"),
        Column("lowest", "Ours / other", "lowest"),
        Column("highest", "Ours / other", "highest"),
        Column("paper", "Paper's ratio"),
    )
    rows = [
        Row(
            (
                Cell(row["claim"]),
                Cell(three_digits(row["ours"])),
                Cell(three_digits(row["other"])),
                Cell(row["unit"]),
                *(Cell(fixed(row[key], 2)) for key in ("ratio", "lowest", "highest", "paper")),
            )
        )
        for row in found["rows"]
    ]
    return Table(
        "engines",
        "The runtime beside CTranslate2, float32 and unpruned shapes",
        "Networks with random weights in the shapes of the zoo translate the same sentences to outputs of the "
        "same length, in turn on the same core (weebill benchmark runtime).",
        columns,
        tuple(rows),
        (
            f"{found['sentences']:,} sentences as long as those of newstest2021; medians, and the lowest and "
            f"highest ratio of {found['rounds']} rounds. Of milliseconds, a ratio below 1 is the better one.",
            f"{found['hardware']}; {versions_line(found['versions'])}.",
        ),
    )
