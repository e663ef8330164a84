"""First page of a metric experiment: the reference, the smaller metrics made from it, and lexical metrics."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from weebill.experiment.metrics import DISTILLED, ENSEMBLE, OURS_WAY, PLAIN, PRUNED, REFERENCE
from weebill.files import read_json
from weebill.report import noise
from weebill.report.costs import Job, hours
from weebill.report.front.front import (
    Example,
    Front,
    cost_sentence,
    hours_cell,
    spread,
    times,
)
from weebill.report.results import Results, first
from weebill.report.table import (
    Cell,
    Column,
    Row,
    Table,
    fixed,
    probability,
    signed,
    signed_text,
    three_digits,
)

if TYPE_CHECKING:
    from weebill.evaluation.timing.metric_speed import MetricSpeed

FIGURE = "cometinho_figure1"


def front(
    results: Results, jobs: Sequence[Job], stages: Sequence[tuple[str, Sequence[str]]]
) -> Front:
    """Return the first page."""
    config = results.config
    setting = [
        ("Judged sets", ", ".join(config["test_sets"])),
        ("Encoders", ", ".join(config["encoders"])),
        ("Machine", ", ".join(sorted({one.hardware for one in results.speeds})) or "not timed"),
        ("Seed", str(config["seed"])),
    ]
    small = next((name for name in (DISTILLED, PRUNED) if name in results.metrics()), None)
    said = [_gain(results, small), _loss(results, small)] if small else []
    said += [_beside_reference(results, name, told) for name, told in REMARKABLE.items()]
    said.append(cost_sentence(jobs, stages))
    title = f"{config['experiment']}: small metrics of translation"
    return Front(title, setting, [one for one in said if one], metrics_table(results, jobs), FIGURE)


def timed(results: Results, metric: str, way: str = "") -> "MetricSpeed | None":
    """Return the time to score the most systems together, by a way of the reference scorer or by our scorer."""
    rows = [
        one
        for one in results.speeds
        if (one.study, one.metric) == ("systems", metric)
        and (one.way == way if way else one.way.startswith(OURS_WAY))
    ]
    return max(rows, key=lambda one: one.amount, default=None)


def _gain(results: Results, metric: str) -> str:
    own, whole = (results.mebibytes(name) for name in (metric, REFERENCE))
    if not own or not whole:
        return ""
    told = f"`{metric}` is {times(whole, own)}× smaller than the reference metric: {own} MiB instead of {whole}"
    ours, base = timed(results, metric), timed(results, REFERENCE)
    if not ours or not base:
        return f"{told}. Its speed was not measured."
    faster = times(_seconds(base), _seconds(ours))
    told += f". On one core our scorer is {faster}× as fast with it as with the reference"
    plain = first(results.speeds, study="systems", metric=REFERENCE, way=PLAIN, amount=ours.amount)
    if plain:
        faster = times(_seconds(plain), _seconds(ours))
        told += (
            f" ({faster}× as fast as COMET's own way, which encodes every text of every segment)"
        )
    noisy = any(noise.mark(one.seconds) for one in (ours, base))
    return f"{told}{'; a noisy measurement' if noisy else ''}."


def _seconds(one: "MetricSpeed | None") -> str:
    return three_digits(one.median) if one else ""


def _loss(results: Results, metric: str) -> str:
    parts = []
    for name in results.config["test_sets"]:
        one = results.agreement(metric, name)
        if one and one.tau is not None:
            told = f"τ {fixed(one.tau, 3)} on {name}"
            if one.difference is not None:
                change = signed_text(signed(one.difference, 3))
                told += f" ({change} against the reference, p = {probability(one.p_value)})"
            parts.append(told)
    if not parts:
        return ""
    return f"Its agreement with people is {', '.join(parts)}."


# Metric → what is said of it, with its differences to the reference.
REMARKABLE = {
    ENSEMBLE: "The mean of the references' scores, from which a small metric learns, differs from the reference by",
    "without-1-top-layers": "Without its top layer, the reference differs by",
}


def _beside_reference(results: Results, metric: str, told: str) -> str:
    """Say by how much a metric's τ differs from the reference's, and whether this is shown."""
    parts = []
    for name in [*results.config["test_sets"], "development"]:
        one = results.agreement(metric, name)
        if one and one.difference is not None:
            change = signed_text(signed(one.difference, 3))
            parts.append(f"{change} on {name} (p = {probability(one.p_value)})")
    return f"{told} {', '.join(parts)} in τ." if parts else ""


def metrics_table(results: Results, jobs: Sequence[Job] = ()) -> Table:
    """Return the table of the first page: a row for each metric, with its gain over the reference."""
    sets = list(results.config["test_sets"])
    columns = [*Column.texts(metric="Metric"), Column("mib", "MiB"), Column("smaller", "× smaller")]
    columns += [
        Column("seconds", "Seconds"),
        Column("faster", "× faster"),
        Column("hours", "Hours"),
    ]
    for name in sets:
        columns.append(Column(name, f"τ, {name}", deltas=True))
        columns += Column.grouped(f"95 %, {name}", **{f"{name}_low": "from", f"{name}_high": "to"})
    rows = []
    for metric in results.metrics():
        own, whole = (results.mebibytes(name) for name in (metric, REFERENCE))
        one, base = (timed(results, name) for name in (metric, REFERENCE))
        seconds, mark = _seconds(one), noise.mark(one.seconds) if one else ""
        cells = [metric, own, times(whole, own), Cell(seconds, mark=mark)]
        cells.append(times(_seconds(base), seconds))
        cells.append(hours_cell(_hours(results, jobs, metric)))
        for name in sets:
            cells += _agreement(results, metric, name)
        rows.append(Row.of(cells, baseline=metric == REFERENCE))
    notes = ["×: gain over the reference. In brackets: difference of τ to the reference's."]
    if one := timed(results, REFERENCE):
        notes.append(
            f"Seconds: time of our scorer ({one.way}) for {one.amount} systems together on one core, median of "
            f"{len(one.seconds)} rounds; {one.hardware}."
        )
    notes.append("Hours: time of the training or pruning of this metric alone.")
    return Table(
        "models",
        "The metrics in short",
        "From the reference to the smallest metric: size, time, cost, and agreement with people.",
        columns,
        rows,
        [*notes, *noise.notes(rows)],
    )


def _hours(results: Results, jobs: Sequence[Job], metric: str) -> float | None:
    """Return the hours of the jobs that made a metric."""
    if metric == REFERENCE:  # the first member, or imported
        return hours(jobs, ["train_reference", "import_reference"], ["0", ""])
    if metric == ENSEMBLE:
        return hours(jobs, ["train_reference"])
    return hours(jobs, ["prune_metric", "train_distilled"], [metric])


def _agreement(results: Results, metric: str, test_set: str) -> list[Cell | str]:
    one, base = (results.agreement(name, test_set) for name in (metric, REFERENCE))
    if one is None:
        return [""] * 3
    shown = [
        fixed(row.tau, 3) if row else "" for row in (one, None if metric == REFERENCE else base)
    ]
    return [Cell.compared(*shown, "difference"), fixed(one.low, 3), fixed(one.high, 3)]


def examples(results: Results, files: Mapping[str, Sequence[str]]) -> list[Example]:
    """Return judged translations with the scores of people and metrics; only their position selects them.

    files: "judged": the table of the first test set; "scores": METRIC.json of each metric on it.
    """
    from weebill.metric.judged_set import JudgedSet

    if not files.get("judged"):
        return []
    name, entry = next(iter(results.config["test_sets"].items()))
    rows = JudgedSet.read(name, entry).judgements
    scores = {Path(path).stem: read_json(path)["scores"] for path in files["scores"]}
    found = []
    for index in spread(len(rows)):
        row = rows.iloc[index]
        texts = {"source": row["src"], "translation": row["mt"], "reference": row.get("ref", "")}
        numbers = {"people": row["score"], **{m: some[index] for m, some in scores.items()}}
        told = ", ".join(f"{who}\N{NO-BREAK SPACE}{_score(v)}" for who, v in numbers.items())
        found.append(Example([*((k, v) for k, v in texts.items() if v), ("scores", told)]))
    return found


def _score(value: float) -> str:
    """Return a score in words: those of people, BLEU and chrF go up to 100, others are about 1."""
    return signed_text(fixed(float(value), 1 if abs(value) >= 10 else 3))
