"""Speed on a GPU as tables: students in every setting, and tables 4 of WNGT20 and WMT21, ours beside theirs."""

from collections.abc import Mapping, Sequence

from weebill.configuration.variants import UNPRUNED
from weebill.evaluation.gpu_speed import GpuSpeed
from weebill.evaluation.measurement import Variant, versions_line
from weebill.report import papers
from weebill.report.results import Results
from weebill.report.table import Cell, Column, Row, Table, delta, fixed, three_digits

NUMBERS = {
    "fp32": "float32",
    "fp16": "float16",
    "8bit": "int8",
}  # as the papers' tables 4 call them

Setting = tuple[
    str, str, str, bool
]  # row of WNGT20's table 1, recipe, numbers, whether with a shortlist


def gpu_tables(results: Results, speeds: Sequence[GpuSpeed]) -> list[Table]:
    """All tables of a GPU's speeds."""
    return [gpu_table(speeds), wngt20_table4(results, speeds), wmt21_table4(speeds)]


def gpu_table(speeds: Sequence[GpuSpeed]) -> Table:
    """Words per second on a GPU, of each student in every kind of numbers and batch size."""
    columns = (
        Column("variant", "Variant", numeric=False),
        Column("numbers", "Numbers", numeric=False),
        Column("shortlist", "Shortlist", numeric=False),
        Column("batch", "Batch"),
        Column("wps", "Words/s", "median", deltas=True),
        Column("wps_slowest", "Words/s", "slowest"),
        Column("wps_fastest", "Words/s", "fastest"),
    )
    bases = {
        (row.variant, row.batch_size): fixed(row.words_per_second, 0)
        for row in speeds
        if row.numbers == "float32" and not row.shortlist
    }
    rows = []
    for row in speeds:
        text, baseline = fixed(row.words_per_second, 0), str(Variant.parse(row.variant).baseline)
        is_base = (row.variant, row.numbers, row.shortlist) == (baseline, "float32", False)
        base = "" if is_base else bases.get((baseline, row.batch_size), "")
        cells = (
            Cell(row.variant),
            Cell(row.numbers),
            Cell("yes" if row.shortlist else "no"),
            Cell(str(row.batch_size)),
            Cell(text, delta(text, base, "ratio")),
            Cell(fixed(row.words / max(row.seconds), 0)),
            Cell(fixed(row.words / min(row.seconds), 0)),
        )
        rows.append(Row(cells, "baseline" if is_base else "plain"))
    notes = ["In brackets: against the student's unpruned model in float32 without a shortlist."]
    if speeds:
        first = speeds[0]
        notes.append(
            f"{first.words:,} source words in {first.sentences:,} sentences; {len(first.seconds)} interleaved "
            f"rounds; {first.hardware}; {versions_line(first.versions)}."
        )
    return Table(
        "gpu",
        "All students: GPU speed",
        "Source words translated per second on a GPU by mini-batch size. Loading is not counted.",
        columns,
        tuple(rows),
        tuple(notes),
    )


def wngt20_table4(results: Results, speeds: Sequence[GpuSpeed]) -> Table:
    """Words per second of the variants that stand beside a row of WNGT20, each at its best batch size."""
    students = list(papers.load_table("wngt20", 1)["model"])
    printed = {
        _printed_setting(row, students): row["wps_gpu_t4"]
        for row in papers.load_table("wngt20", 4).to_dict("records")
    }
    # By variant too: several may stand beside one row.
    ours: dict[tuple[Setting, str], GpuSpeed] = {}
    for speed in sorted(speeds, key=lambda speed: speed.words_per_second):
        variant = Variant.parse(speed.variant)
        row = results.row_of(variant, "wngt20")
        if row is not None:
            setting = (row, variant.recipe, speed.numbers, speed.shortlist)
            ours[setting, speed.variant] = speed
    measured = {key: fixed(speed.words_per_second, 0) for key, speed in ours.items()}
    alone = {(setting, "") for setting in {*printed}.difference(setting for setting, _ in ours)}
    rows = []
    for setting, name in sorted(
        {*alone, *ours}, key=lambda one: (students.index(one[0][0]), *one[0][1:], one[1])
    ):
        row, recipe, numbers, shortlist = setting
        plain, speed = (row, UNPRUNED, "float32", False), ours.get((setting, name))
        baseline = str(Variant.parse(name).baseline) if name else ""
        cells = [
            Cell(row if recipe == UNPRUNED else f"{row}.{recipe.replace('-', '.')}"),
            Cell(numbers + (", shortlist" if shortlist else "")),
            Cell(name),
            Cell(str(speed.batch_size) if speed else ""),
        ]
        for side, own, base in (
            (measured, (setting, name), (plain, baseline)),
            (printed, setting, plain),
        ):
            text = side.get(own, "")
            against = "" if own == base else side.get(base, "")
            cells.append(Cell(text, delta(text, against, "ratio")))
        kind = "baseline" if setting == plain else "plain" if speed else "absent"
        rows.append(Row(tuple(cells), kind))
    return Table(
        "wngt20_table4",
        "WNGT20 table 4: speed on a GPU",
        "Source words that students translate per second on a GPU; the paper's is an NVIDIA T4.",
        (
            Column("model", "WNGT 2020 row", numeric=False),
            Column("setting", "Setting", numeric=False),
            Column("ours", "Our variant", numeric=False),
            Column("batch_ours", "Batch, ours"),
            Column("wps_ours", "Words/s", "ours", deltas=True),
            Column("wps_paper", "Words/s", "paper", deltas=True),
        ),
        tuple(rows),
        (
            "In brackets: each side against its own unpruned student in float32 without a shortlist. Ours in "
            "batches of the size that was the fastest.",
        ),
    )


def wmt21_table4(speeds: Sequence[GpuSpeed]) -> Table:
    """Seconds of each unpruned student by mini-batch size and kind of numbers, without a shortlist as the paper's."""
    ours: dict[tuple[str, str], dict[str, float]] = {}  # (student, batch) -> seconds by numbers
    for speed in speeds:
        variant = Variant.parse(speed.variant)
        if variant.recipe == UNPRUNED and not speed.shortlist:
            seconds = ours.setdefault((variant.student, str(speed.batch_size)), {})
            seconds[speed.numbers] = speed.words / speed.words_per_second
    printed = {
        row["mini_batch"]: {
            numbers: row[f"seconds_ours_{name}"] for name, numbers in NUMBERS.items()
        }
        for row in papers.load_table("wmt21", 4).to_dict("records")
        if row["mini_batch"].isdecimal()  # its last row is of BLEU
    }
    rows = []
    for student in dict.fromkeys(student for student, _ in ours) or [""]:
        batches = {batch for one, batch in ours if one == student} | {*printed}
        for batch in sorted(batches, key=int):
            taken = ours.get((student, batch), {})
            sides = (
                {numbers: three_digits(seconds) for numbers, seconds in taken.items()},
                printed.get(batch, {}),
            )
            cells = [Cell(student), Cell(batch)]
            for numbers in NUMBERS.values():
                cells += [_against_float32(side, numbers) for side in sides]
            rows.append(Row(tuple(cells), "plain" if taken else "absent"))
    columns = [Column("student", "Our student", numeric=False), Column("batch", "Batch")]
    for numbers in NUMBERS.values():
        for side in ("ours", "paper"):
            columns.append(Column(f"{numbers}_{side}", f"Seconds, {numbers}", side, deltas=True))
    return Table(
        "wmt21_table4",
        "WMT21 table 4: mini-batch sizes on a GPU",
        "Seconds that a student takes for a text on a GPU by mini-batch size.  The paper's are of the year before's "
        "model, a million sentences and an NVIDIA RTX 3090 (its own branch of Marian).",
        tuple(columns),
        tuple(rows),
        ("In brackets: against float32 in the same batches.",),
    )


def _printed_setting(row: Mapping[str, str], students: Sequence[str]) -> Setting:
    """Of e.g. the model "tiny.steady.i12" in the variant "fp16+shortlist"."""
    student = max((name for name in students if row["model"].startswith(name)), key=len)
    recipe = row["model"].removeprefix(student).lstrip(".").replace(".", "-")
    numbers, _, shortlist = row["variant"].partition("+")
    return (student, recipe or UNPRUNED, NUMBERS[numbers], bool(shortlist))


def _against_float32(seconds: Mapping[str, str], numbers: str) -> Cell:
    text = seconds.get(numbers, "")
    base = "" if numbers == "float32" else seconds.get("float32", "")
    return Cell(text, delta(text, base, "ratio"))
