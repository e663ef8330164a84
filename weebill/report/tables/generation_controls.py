"""Tables that compare variants of generators with their controls, trained for the same time without compression."""

from functools import partial

from weebill.report.lookups import generation as lookup
from weebill.report.results import Results
from weebill.report.table import Cell, Column, Row, Table
from weebill.report.tables.generation import SCORES, TITLES

NOTE = (
    "A control is made from the same model, by as many updates with the same batches, learning rate and loss, and "
    "nothing is removed or rounded: what × shows is not an effect of the longer training."
)
INT8 = "A conversion to int8 trains nothing: its control is that of the variant before it."
APART = "Intervals are of each model alone; the two are not tested against each other."


def controls_table(results: Results, task: str) -> Table:
    """Return a row for each variant with a control: both scores with their intervals, and their ratio."""
    columns = Column.texts(variant="Variant", control="Control")
    for name in SCORES[task]:
        key = name.lower().replace(" ", "_").replace("-", "_")
        columns.append(Column(key, name, deltas=True))
        columns += Column.grouped(f"{name}, 95 %", **{f"{key}_low": "from", f"{key}_high": "to"})
        title = f"{name} of the control"
        columns.append(Column(f"{key}_control", title))
        ends = {f"{key}_control_low": "from", f"{key}_control_high": "to"}
        columns += Column.grouped(f"{title}, 95 %", **ends)
    rows = []
    for variant, control in lookup.controls(results.config, task).items():
        cells: list[Cell | str] = [variant, control]
        for name in SCORES[task]:
            both = (lookup.quality(results, one, name) for one in (variant, control))
            own, other = (lookup.texts(one, name) for one in both)
            cells += [Cell.compared(own[0], other[0], "ratio"), *own[1:], *other]
        rows.append(Row.of(cells))
    return Table(
        f"generation_controls_{task.replace('-', '_')}",
        f"{TITLES[task]}: beside as long a training",
        "Each variant beside its control; × against the control, with 95 % bootstrap intervals.",
        columns,
        rows,
        [NOTE, *([INT8] if _converts(results, task) else []), APART],
    )


def _converts(results: Results, task: str) -> bool:
    found = lookup.controls(results.config, task)
    return any(lookup.methods(results, variant)[-1] == "post-training" for variant in found)


summaries_controls = partial(controls_table, task="summarization")
running_text_controls = partial(controls_table, task="language-modelling")
