"""Tables of times: speed and latency of all variants by every engine, speed on a GPU, and the runtime's benchmark."""

from weebill.evaluation.measurement import Variant, versions_line
from weebill.report import noise
from weebill.report.lookups import translation as lookup
from weebill.report.results import Results
from weebill.report.table import Cell, Column, Row, Table, fixed, three_digits

CHARACTERS = {"cps_1core": "1 core", "cps_all": "all cores"}


def _rounds(key: str, heading: str) -> list[Column]:
    ends = {f"{key}_slowest": "slowest", f"{key}_fastest": "fastest"}
    return [Column(key, heading, "median", deltas=True), *Column.grouped(heading, **ends)]


def speed_table(results: Results) -> Table:
    """Return words per second of every variant by each engine, on one core and on all, with the range of rounds."""
    teacher = lookup.teacher(results)
    by_characters = any(one.characters for one in results.speeds)
    notes = ["In brackets: ratio to the teacher with its beam, which PyTorch always translates."]
    if results.speeds:
        first, cores = lookup.whole_text(results), max(speed.cores for speed in results.speeds)
        part = lookup.teachers_part(results.speeds, lookup.AT_ITS_SPEED)
        notes += [
            f"{lookup.source_words(first)} in {first.sentences:,} sentences{part}, batches of {first.batch_size}; "
            f"{len(first.seconds)} rounds, variants and engines interleaved; one core"
            + (f", and {cores} cores with the text split among them." if cores > 1 else "."),
            *(
                f"{speed.variant}, {speed.engine}, by {speed.processes} x {speed.threads} threads: "
                f"{lookup.words_per_second(speed)} words/s."
                for speed in results.speeds
                if speed.threads > 1
            ),
            f"{first.hardware}; {versions_line(first.versions)}.",
        ]
    rows = [
        _speed_row(results, variant, engine, teacher if variant != teacher else None)
        for variant in lookup.variants(results)
        for engine in lookup.engines(results, variant)
    ]
    return Table(
        "variants",
        "All variants: speed",
        "Source words translated per second, and seconds for the whole text. Loading is not counted.",
        (
            *Column.texts(variant="Variant", engine="Engine"),
            Column("beam", "Beam"),
            Column("seconds", "Seconds, 1 core", deltas=True),
            *_rounds("wps_1core", "Words/s, 1 core"),
            *_rounds("wps_all", "Words/s, all cores"),
            *(Column.grouped("Characters/s", **CHARACTERS) if by_characters else ()),
        ),
        rows,
        [*notes, *noise.notes(rows)],
    )


def _speed_row(results: Results, variant: Variant, engine: str, base: Variant | None) -> Row:
    cells = [str(variant), engine, str(lookup.speed(results, variant, engine=engine).beam)]
    for all_cores in (False, True):
        one = lookup.speed(results, variant, all_cores, engine)
        pair = (one, lookup.speed(results, base, all_cores) if base else None)
        if not all_cores:
            words = lookup.whole_text(results).words
            seconds = (lookup.seconds(each, words) for each in pair)
            cells.append(Cell.compared(*seconds, "ratio"))
        shown = map(lookup.words_per_second, pair)
        cells.append(Cell.compared(*shown, "ratio", noise.mark(one.seconds)))
        cells += [three_digits(one.slowest), three_digits(one.fastest)]
    for all_cores in (False, True):
        one = lookup.speed(results, variant, all_cores, engine)
        cells += [fixed(one.characters_per_second, 0)] * bool(one.characters)
    return Row.of(cells, baseline=variant == variant.baseline)


def latency_table(results: Results) -> Table:
    """Return milliseconds per single sentence, loading time and memory of every variant by each engine."""
    rows, notes = [], []
    for one in results.latencies:
        cells = [one.variant, one.engine, str(one.beam)]
        cells += map(three_digits, (one.mean_ms, one.p50_ms, one.p95_ms, one.p99_ms))
        cells += [fixed(one.load_seconds, 2), fixed(one.idle_mib, 0), fixed(one.peak_mib, 0)]
        variant = Variant.parse(one.variant)
        rows.append(Row.of(cells, baseline=variant == variant.baseline))
    if results.latencies:
        first = max(results.latencies, key=lambda one: one.sentences)
        part = lookup.teachers_part(results.latencies)
        notes = [
            f"{first.sentences:,} sentences{part} on one core, one thread; p50, p95, p99: percentiles. Peak memory: "
            "with a batch of the longest sentences. It includes Python and its libraries, which are imported before "
            "loading begins.",
            f"{first.hardware}; {versions_line(first.versions)}.",
        ]
    return Table(
        "latency",
        "All variants: latency, loading and memory",
        "Milliseconds to translate one sentence alone, seconds to load the model, and memory of the process before "
        "it loads and at its peak.",
        (
            *Column.texts(variant="Variant", engine="Engine"),
            Column("beam", "Beam"),
            *Column.grouped(
                "Latency, ms", mean_ms="mean", p50_ms="p50", p95_ms="p95", p99_ms="p99"
            ),
            Column("load_seconds", "Loading, s"),
            *Column.grouped("Memory, MiB", idle_mib="before", peak_mib="peak"),
        ),
        rows,
        notes,
    )


def gpu_table(results: Results) -> Table:
    """Return words per second and BLEU on a GPU, for each student, kind of numbers and batch size."""
    speeds = results.gpu_speeds
    bases = {
        (one.variant, one.batch_size): one
        for one in speeds
        if one.numbers == "float32" and not one.shortlist
    }
    rows = []
    for one in speeds:
        baseline = str(Variant.parse(one.variant).baseline)
        is_base = (one.variant, one.numbers, one.shortlist) == (baseline, "float32", False)
        base = None if is_base else bases.get((baseline, one.batch_size))
        pair = (one, base)
        cells = [one.variant, one.numbers, "yes" if one.shortlist else "no", str(one.batch_size)]
        shown = map(lookup.words_per_second, pair)
        cells.append(Cell.compared(*shown, "ratio", noise.mark(one.seconds)))
        cells += [three_digits(one.words / taken(one.seconds)) for taken in (max, min)]
        cells.append(three_digits(one.sentence_ms))
        cells.append(Cell.compared(*map(lookup.mean_timed_bleu, pair), "difference"))
        cells.append(fixed(one.memory_mib, 0))
        rows.append(Row.of(cells, baseline=is_base))
    return Table(
        "gpu",
        "All students: GPU speed",
        "Source words translated per second on a GPU by mini-batch size, and the mean BLEU of these translations "
        "over the test sets. Loading is not counted.",
        (
            *Column.texts(variant="Variant", numbers="Precision", shortlist="Shortlist"),
            Column("batch", "Batch"),
            *_rounds("wps", "Words/s"),
            Column("sentence_ms", "Sentence, ms"),
            Column("bleu", "BLEU", deltas=True),
            Column("memory_mib", "Memory, MiB"),
        ),
        rows,
        [*_gpu_notes(results), *noise.notes(rows)],
    )


def _gpu_notes(results: Results) -> list[str]:
    if not results.gpu_speeds:
        return [
            "The GPU's memory held no student in any batch size; the log of the timing says so."
        ]
    first = results.gpu_speeds[0]
    alone = [one for one in results.gpu_speeds if one.batch_size == 1]
    notes = ["In brackets: against the student's unpruned model in float32 without a shortlist."]
    notes += lookup.timed_text(results)
    if alone:
        notes.append(
            f"Batch 1: {alone[0].sentences:,} sentences one by one, and the mean milliseconds of one."
        )
    notes.append(
        f"Memory: the peak, with the weights. {len(first.seconds)} rounds, in which precisions and shortlist take "
        f"turns, after one that does not count; {first.hardware}; {versions_line(first.versions)}."
    )
    return notes


def benchmark_table(results: Results) -> Table:
    """Return the rows of `weebill benchmark runtime` from the workflow's file, with the hardware and versions."""
    found = results.engines[0]
    rows = []
    for one in found["rows"]:
        cells = [one["claim"], three_digits(one["ours"]), three_digits(one["other"]), one["unit"]]
        cells += [fixed(one[key], 2) for key in ("ratio", "lowest", "highest", "paper")]
        rows.append(Row.of(cells))
    return Table(
        "engines",
        "The runtime beside CTranslate2, float32 and unpruned shapes",
        "Networks with random weights in the shapes of the zoo translate the same sentences to outputs of the "
        "same length, in turn on the same core (weebill benchmark runtime).",
        (
            *Column.texts(claim="Claim"),
            Column("ours", "Ours"),
            Column("other", "Other"),
            *Column.texts(unit="Unit"),
            *Column.grouped("Ours / other", ratio="median", lowest="lowest", highest="highest"),
            Column("paper", "Paper's ratio"),
        ),
        rows,
        (
            f"{found['sentences']:,} sentences as long as those of newstest2021; medians, and the lowest and "
            f"highest ratio of {found['rounds']} rounds. For milliseconds, a ratio below 1 is better.",
            f"{found['hardware']}; {versions_line(found['versions'])}.",
        ),
    )
