"""Tables 1 to 3 of WNGT20 and of WMT21, ours beside the paper's.

A row of the paper is a student, a pruning recipe and a precision; ours is the variant of the same three, of
the student that `report.rows` puts beside it.  Languages, data and machines differ, so the numbers cannot be
compared as they stand: what can is the delta of each to its own baseline, which stands beside every number.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from weebill.evaluation.measurement import Variant
from weebill.experiment.precisions import grid_of
from weebill.experiment.zoo import MODELS
from weebill.pruning.methods import pruning_method
from weebill.report import papers
from weebill.report import quantities as q
from weebill.report.results import TEACHER, Results
from weebill.report.table import Cell, Column, Row, Table, delta
from weebill.yaml_files import read_yaml

Key = tuple[str, str, str]  # row of table 1, recipe, precision
Recipes = Mapping[str, Mapping[str, Any]]

PRECISION = {  # as the papers call it
    "float32": "float32",
    "8bit": "int8-finetuned",  # WNGT20; WMT21's 8bit is untuned
    "8bit-untuned": "int8",
    "log-4bit": "log4-finetuned",
    "8bit+finetuning": "int8-finetuned",
}


@dataclass(frozen=True)
class PaperTable:
    """How one table of a paper maps to ours."""

    paper: str
    number: int
    title: str
    explanation: str
    key: Callable[[Mapping[str, str]], Key]
    ours_too: Callable[[Variant], bool]  # our variants that belong here without a row in the paper
    columns: tuple[q.Quantity, ...]
    speed: tuple[q.Quantity, ...] = ()
    label: tuple[str, ...] = ("model",)  # the paper's columns that name its row
    against_teacher: bool = False  # baseline: the teacher, not the unpruned float32 student
    recipes_too: Callable[[Recipes, str], bool] = lambda recipes, name: True  # of `ours_too`

    @property
    def name(self) -> str:
        """Of its files, e.g. wngt20_table2."""
        return f"{self.paper}_table{self.number}"


def build(definition: PaperTable, results: Results, speed: bool = False) -> Table:
    """The table of qualities and sizes, or of speeds."""
    quantities = definition.speed if speed else definition.columns
    lines = _lines(definition, results)
    printed = {definition.key(row): row for row, _ in lines if row is not None}
    columns = [
        Column("model", f"{papers.PAPERS[definition.paper][1]} row", numeric=False),
        Column("ours", "Our variant", numeric=False),
    ]
    for quantity in quantities:
        deltas = quantity.comparison != "none"
        for side in ("ours", "paper"):
            key = f"{quantity.key}_{side}"
            columns.append(Column(key, quantity.title, side, deltas=deltas))
    rows = [_row(definition, results, quantities, printed, row, variant) for row, variant in lines]
    return Table(
        name=definition.name,
        title=definition.title + (": speed" if speed else ""),
        explanation=definition.explanation,
        columns=tuple(columns),
        rows=tuple(rows),
        notes=_notes(definition, results, speed),
    )


def _lines(definition: PaperTable, results: Results) -> list[tuple[dict | None, Variant | None]]:
    """Pairs of the paper's row and our variant, either of which may be missing, in the paper's order.

    Variants that the paper has no row for follow the last row of the same model.
    """
    printed = papers.load_table(definition.paper, definition.number).to_dict("records")
    keys = [definition.key(row) for row in printed]
    waiting = [
        v
        for v in results.variants
        if _belongs(v, definition, results) or _key(v, definition, results) in keys
    ]
    lines: list[tuple[dict | None, Variant | None]] = []
    for index, (row, key) in enumerate(zip(printed, keys, strict=True)):
        beside = [v for v in waiting if _key(v, definition, results) == key]
        lines += [(row, variant) for variant in beside] or [(row, None)]
        waiting = [v for v in waiting if v not in beside]
        if key[0] not in [later[0] for later in keys[index + 1 :]]:
            rest = [v for v in waiting if _key(v, definition, results)[0] == key[0] and key[0]]
            rest = [v for v in rest if _key(v, definition, results) not in keys]
            lines += [(None, variant) for variant in rest]
            waiting = [v for v in waiting if v not in rest]
    return lines + [(None, variant) for variant in waiting]


def _belongs(variant: Variant, definition: PaperTable, results: Results) -> bool:
    """Whether a variant stands in a table that has no row for it."""
    recipes = results.config["pruning"]
    pruned = variant.recipe in recipes
    return definition.ours_too(variant) and (
        not pruned or definition.recipes_too(recipes, variant.recipe)
    )


def _key(variant: Variant, definition: PaperTable, results: Results) -> Key:
    row = results.row_of(variant, definition.paper) or ""
    if variant == results.teacher:
        return (row, TEACHER, variant.precision)
    return (row, variant.recipe, variant.precision)


def _row(definition, results, quantities, printed, row, variant) -> Row:
    key = definition.key(row) if row is not None else None
    if definition.against_teacher:
        ours_base = results.teacher
        paper_base = next((r for r in printed.values() if r["model"].startswith(TEACHER)), None)
        baseline = variant == ours_base if variant else row is paper_base
    else:
        ours_base = variant.baseline if variant else None
        paper_base = printed.get((key[0], "unpruned", "float32")) if key else None
        baseline = variant == ours_base if variant else row is paper_base
    label = " ".join(row[name] for name in definition.label if row[name] != "none") if row else ""
    cells = [Cell(label), Cell(str(variant) if variant else "")]
    for quantity in quantities:
        ours = quantity.ours(results, variant) if variant else ""
        ours_from = quantity.ours(results, ours_base) if ours_base and variant != ours_base else ""
        theirs = quantity.paper(row) if row else ""
        theirs_from = quantity.paper(paper_base) if paper_base and row is not paper_base else ""
        cells.append(Cell(ours, delta(ours, ours_from, quantity.comparison)))
        cells.append(Cell(theirs, delta(theirs, theirs_from, quantity.comparison)))
    return Row(tuple(cells), "baseline" if baseline else "plain" if variant else "absent")


def _notes(definition: PaperTable, results: Results, speed: bool) -> tuple[str, ...]:
    base = "the teacher" if definition.against_teacher else "the unpruned float32 model"
    notes = [
        f"In brackets: each side against its own baseline, {base}: a difference for BLEU, a ratio (×) "
        "otherwise. A dash: not printed, or not in this experiment.",
    ]
    columns = results.config["report"]["columns"].get(definition.paper, {})
    shown = {quantity.key for quantity in definition.columns}
    means = [f"{key} = {', '.join(names)}" for key, names in columns.items() if key in shown]
    if means and not speed:
        notes.append(f"Our test sets beside the paper's (their mean): {'; '.join(means)}.")
    if definition.number == 1 and not speed:
        notes += [f"{name}: {entry['note']}." for name, entry in _exceptions(definition.paper)]
    if speed and results.speeds:
        row = results.speeds[0]
        cores = max(speed.cores for speed in results.speeds)
        notes.append(
            f"Ours: {_engines(results)}; {row.words:,} source words in {row.sentences:,} sentences, batches of "
            f"{row.batch_size}, median of {len(row.seconds)} interleaved rounds, one core and {cores} "
            f"cores of {row.hardware}. Students search greedily where no beam is named."
        )
    return tuple(notes)


def _engines(results: Results) -> str:
    """Whose the speeds shown are: "students by the …, the teacher by the …"."""
    shown: dict[str, list[str]] = {}
    for variant in results.variants:
        for engine in results.engines(variant)[:1]:
            who = "the teacher" if variant.student == TEACHER else "students"
            shown.setdefault(engine, [])
            if who not in shown[engine]:
                shown[engine].append(who)
    return ", ".join(f"{' and '.join(who)} by the {engine}" for engine, who in shown.items())


def _exceptions(paper: str) -> list[tuple[str, dict]]:
    """Entries of the zoo whose printed figures cannot be met, with a note that says why."""
    zoo = read_yaml(MODELS).items()
    return [(name, entry) for name, entry in zoo if entry.get("paper") == paper and "note" in entry]


def _table1(row: Mapping[str, str]) -> Key:
    model = row["model"]
    return (model, TEACHER if model.startswith(TEACHER) else "unpruned", "float32")


def _wngt20_table2(row: Mapping[str, str]) -> Key:
    model, _, recipe = row["model"].partition(".")
    return (model, recipe.replace(".", "-") or "unpruned", "float32")


def _quantized_table(row: Mapping[str, str]) -> Key:
    return (row["model"], "unpruned", PRECISION[row["precision"]])


def _wmt21_table2(row: Mapping[str, str]) -> Key:
    precision = "int8" if row["precision"] == "8bit" else PRECISION[row["precision"]]
    return (row["model"], row["pruning"].replace("none", "unpruned"), precision)


def _takes_heads_alone(recipes: Recipes, name: str) -> bool:
    """Late resetting, and what chooses as many heads another way."""
    return pruning_method(recipes[name]).parts == {"heads"}


def _by_group_lasso(recipes: Recipes, name: str) -> bool:
    """Group lasso, and the training of its shapes from scratch."""
    shape = pruning_method(recipes[name]).shape_from or name
    return recipes[shape]["method"] == "group-lasso"


def _is_student(variant: Variant) -> bool:
    return variant.student != TEACHER and not variant.is_search


TABLES = (
    PaperTable(
        "wngt20",
        1,
        "WNGT20 table 1: architectures and quality",
        "Teacher and students before pruning and quantization: their shapes, sizes and BLEU. Sizes of the "
        "teacher are of one member of its ensemble, as the paper prints them.",
        _table1,
        lambda v: (v.recipe == "unpruned" or v.is_search) and v.precision == "float32",
        (
            q.embedding(),
            q.feed_forward(),
            q.depth(),
            q.vocabulary(),
            q.parameters(per_member=True),
            q.mebibytes(per_member=True),
            q.score("wngt20", "bleu_wmt16"),
            q.score("wngt20", "bleu_wmt19"),
            q.score("wngt20", "bleu_wmt1x"),
        ),
        (q.seconds(None), q.words_per_second(None, "Words/s, 1 core")),
        against_teacher=True,
    ),
    PaperTable(
        "wngt20",
        2,
        "WNGT20 table 2: students with pruned encoder attention",
        "Encoder heads removed by confidence with late resetting, in small steps (Steady) or large ones "
        "(Pushy): the heads left in each encoder layer, and what their removal cost.",
        _wngt20_table2,
        lambda v: _is_student(v) and v.precision == "float32",
        (
            q.encoder_heads(),
            q.parameters(),
            q.mebibytes(),
            q.score("wngt20", "bleu_wmt19"),
            q.score("wngt20", "bleu_wmt1x"),
        ),
        (q.words_per_second("wps_1core_fp32", "Words/s, 1 core"),),
        recipes_too=_takes_heads_alone,
    ),
    PaperTable(
        "wngt20",
        3,
        "WNGT20 table 3: quantized students",
        "Size, compressed size and BLEU of students in float32, 8 bits (with static activation scales) and "
        "logarithmic 4 bits. The vocabulary is not counted.",
        _quantized_table,
        lambda v: _is_student(v) and v.recipe == "unpruned",
        (
            q.mebibytes(),
            q.compressed(),
            q.score("wngt20", "bleu_wmt19"),
            q.score("wngt20", "bleu_wmt1x"),
        ),
        (
            q.words_per_second("wps_1core", "Words/s, 1 core"),
            q.words_per_second("wps_multicore", "Words/s, all cores", all_cores=True),
        ),
        ("model", "precision"),
    ),
    PaperTable(
        "wmt21",
        1,
        "WMT21 table 1: architectures and quality",
        "Teacher and students before pruning and quantization: their shapes, sizes and BLEU. Sizes of the "
        "teacher are of its whole ensemble, as the paper prints them.",
        _table1,
        lambda v: (v.recipe == "unpruned" or v.is_search) and v.precision == "float32",
        (
            q.depth(),
            q.embedding(),
            q.feed_forward(),
            q.attention_width(),
            q.heads(),
            q.vocabulary(),
            q.parameters(),
            q.mebibytes(),
            q.score("wmt21", "bleu_wmt20"),
            q.score("wmt21", "bleu_wmt21"),
            q.score("wmt21", "comet_wmt20"),
            q.score("wmt21", "comet_wmt21"),
        ),
        (q.seconds("seconds"), q.words_per_second(None, "Words/s, 1 core")),
        against_teacher=True,
    ),
    PaperTable(
        "wmt21",
        2,
        "WMT21 table 2: pruned and quantized students",
        "Pruned students in float32, in 8 bits, and in 8 bits after fine-tuning. Sparsity is the share of "
        "encoder attention heads and feed-forward neurons removed.",
        _wmt21_table2,
        lambda v: _is_student(v) and grid_of(v.precision) != "log4",
        (
            q.score("wmt21", "bleu_wmt20"),
            q.score("wmt21", "bleu_wmt21"),
            q.score("wmt21", "comet_wmt20"),
            q.score("wmt21", "comet_wmt21"),
            q.sparsity("sparsity_att", "Sparsity Att.", 0),
            q.sparsity("sparsity_ffn", "Sparsity FFN", 1),
        ),
        (q.seconds("seconds"),),
        ("model", "pruning", "precision"),
        recipes_too=_by_group_lasso,
    ),
    PaperTable(
        "wmt21",
        3,
        "WMT21 table 3: students in logarithmic 4 bits",
        "Students stored in logarithmic 4 bits, decoded to float32 to run.",
        _quantized_table,
        lambda v: (
            _is_student(v)
            and v.recipe == "unpruned"
            and v.precision in ("float32", "log4", "log4-finetuned")
        ),
        (
            q.score("wmt21", "bleu_wmt20"),
            q.score("wmt21", "bleu_wmt21"),
            q.score("wmt21", "comet_wmt20"),
            q.score("wmt21", "comet_wmt21"),
            q.mebibytes(),
        ),
        (),
        ("model", "precision"),
    ),
)
