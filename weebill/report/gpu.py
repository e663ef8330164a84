"""Speed on a GPU as tables: students in every setting, and tables 4 of WNGT20 and WMT21, ours beside theirs."""

from collections.abc import Mapping, Sequence

from weebill.errors import InputError
from weebill.evaluation.measurement import Variant, versions_line
from weebill.evaluation.timing.gpu_speed import GpuSpeed
from weebill.experiment.precisions import INTEGER_GRIDS, grid_of
from weebill.experiment.variants import UNPRUNED
from weebill.report import papers
from weebill.report.results import Results
from weebill.report.table import Cell, Column, Row, Table, delta, fixed, three_digits

NUMBERS = {
    "fp32": "float32",
    "fp16": "float16",
    "8bit": "int8",
}  # as the papers' tables 4 call them

# Row of WNGT20's table 1, recipe, grid that the weights are decoded from or "", numbers, True with a shortlist.
Setting = tuple[str, str, str, str, bool]


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
            setting = (row, variant.recipe, _decoded_from(speed), speed.numbers, speed.shortlist)
            ours[setting, speed.variant] = speed
    measured = {key: fixed(speed.words_per_second, 0) for key, speed in ours.items()}
    alone = {(setting, "") for setting in {*printed}.difference(setting for setting, _ in ours)}
    rows = []
    for setting, name in sorted(
        {*alone, *ours}, key=lambda one: (students.index(one[0][0]), *one[0][1:], one[1])
    ):
        row, recipe, grid, numbers, shortlist = setting
        plain, speed = (row, UNPRUNED, "", "float32", False), ours.get((setting, name))
        baseline = str(Variant.parse(name).baseline) if name else ""
        cells = [
            Cell(row if recipe == UNPRUNED else f"{row}.{recipe.replace('-', '.')}"),
            Cell(
                numbers
                + (f", {grid} weights" if grid else "")
                + (", shortlist" if shortlist else "")
            ),
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
    """Seconds of each unpruned variant by mini-batch size and kind of numbers, without a shortlist as the paper's.

    The paper's float32 and float16 stand beside a student's float32 variant, its int8 beside each int8 one.
    Raises InputError where a variant was timed twice in one setting.
    """
    ours = _seconds(speeds)
    printed = {
        row["mini_batch"]: {
            numbers: row[f"seconds_ours_{name}"] for name, numbers in NUMBERS.items()
        }
        for row in papers.load_table("wmt21", 4).to_dict("records")
        if row["mini_batch"].isdecimal()  # its last row is of BLEU
    }
    rows = []
    for name, timed in ours.items() or [("", {})]:
        shown = _paper_numbers(name, ours)
        batches = {*timed, *printed} if shown else {*timed}
        base = ours.get(str(Variant.parse(name).baseline), {}) if name else {}
        for batch in sorted(batches, key=int):
            taken, theirs = timed.get(batch, {}), printed.get(batch, {})
            float32 = base.get(batch, {}).get("float32", "")
            cells = [Cell(name), Cell(batch)]
            for numbers in NUMBERS.values():
                cells.append(_against(taken.get(numbers, ""), numbers, name, float32))
                text = theirs.get(numbers, "") if numbers in shown else ""
                cells.append(_against(text, numbers, "", theirs.get("float32", "")))
            rows.append(Row(tuple(cells), "plain" if taken else "absent"))
    columns = [Column("variant", "Our variant", numeric=False), Column("batch", "Batch")]
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
        (
            "In brackets: against float32 in the same batches, of ours that of the student's float32 variant.",
        ),
    )


def _seconds(speeds: Sequence[GpuSpeed]) -> dict[str, dict[str, dict[str, str]]]:
    """Seconds as they are shown: variant → batch → numbers, of unpruned variants without a shortlist."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for speed in speeds:
        if Variant.parse(speed.variant).recipe == UNPRUNED and not speed.shortlist:
            seconds = found.setdefault(speed.variant, {}).setdefault(str(speed.batch_size), {})
            if speed.numbers in seconds:
                raise InputError(
                    f"GPU speed: {speed.variant} was timed twice in {speed.numbers} with batches of "
                    f"{speed.batch_size}; measure again"
                )
            seconds[speed.numbers] = three_digits(speed.words / speed.words_per_second)
    return found


def _paper_numbers(name: str, ours: Mapping[str, object]) -> list[str]:
    """The kinds of the paper's numbers that are shown beside a variant; all beside none of ours.

    A student without an int8 variant has the paper's int8 beside its float32 one.
    """
    if not name:
        return list(NUMBERS.values())
    variant = Variant.parse(name)
    if grid_of(variant.precision) in INTEGER_GRIDS:
        return ["int8"]
    if variant != variant.baseline:
        return []
    of_int8 = [
        other
        for other in map(Variant.parse, ours)
        if other.student == variant.student and grid_of(other.precision) in INTEGER_GRIDS
    ]
    return [numbers for numbers in NUMBERS.values() if numbers != "int8" or not of_int8]


def _decoded_from(speed: GpuSpeed) -> str:
    """The grid of weights that were decoded to be multiplied; "" of what is multiplied as it is stored."""
    grid = grid_of(Variant.parse(speed.variant).precision)
    return "" if grid == "float32" or speed.numbers == "int8" else grid


def _printed_setting(row: Mapping[str, str], students: Sequence[str]) -> Setting:
    """The setting of e.g. the model "tiny.steady.i12" in the variant "fp16+shortlist"."""
    student = max((name for name in students if row["model"].startswith(name)), key=len)
    recipe = row["model"].removeprefix(student).lstrip(".").replace(".", "-")
    numbers, _, shortlist = row["variant"].partition("+")
    return (student, recipe or UNPRUNED, "", NUMBERS[numbers], bool(shortlist))


def _against(text: str, numbers: str, name: str, float32: str) -> Cell:
    """Seconds with their ratio to float32's, unless they are those of float32 themselves."""
    own = numbers == "float32" and (not name or Variant.parse(name).precision == "float32")
    return Cell(text, "" if own else delta(text, float32, "ratio"))
