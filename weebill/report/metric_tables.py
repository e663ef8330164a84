"""Tables of metrics: their agreement with people, COMETINHO's tables 1 and 2 and its claims with ours beside."""

from statistics import fmean

from weebill.evaluation.quality.metric_quality import Agreement
from weebill.evaluation.timing.metric_speed import PLAIN
from weebill.experiment.metrics import DISTILLED, ENSEMBLE, PRUNED, REFERENCE
from weebill.metric.judged_set import STATISTICS
from weebill.report import papers
from weebill.report.metric_results import MetricResults
from weebill.report.table import Cell, Column, Row, Table, fixed, three_digits

# Our metrics as the paper's tables call them.
PRINTED = {REFERENCE: "COMET", PRUNED: "PRUNE-COMET", DISTILLED: "DISTIL-COMET"}
MILLION = 1e6
LAYERS = "without-{}-top-layers"
MEAN = "avg"  # the printed column of the mean of all others


def agreement_table(results: MetricResults) -> Table:
    """Every metric on every test set, with its interval and its difference to the reference."""
    sets = list(results.config["test_sets"])
    columns = [
        Column("metric", "Metric", numeric=False),
        Column("parameters_m", "Parameters, M"),
        Column("mib", "MiB"),
    ]
    for name in sets:
        for key, title in (
            ("tau", "τ"),
            ("low", "95 %, from"),
            ("high", "95 %, to"),
            ("difference", "less the reference's"),
            ("p", "p"),
        ):
            columns.append(Column(f"{name}_{key}", name, title))
    rows = []
    for metric in results.metrics:
        size = results.size(metric)
        cells = [
            Cell(metric),
            Cell(three_digits(size.parameters / MILLION) if size else ""),
            Cell(fixed(size.bytes / 2**20, 2) if size else ""),
        ]
        for name in sets:
            one = results.agreement(metric, name)
            cells += _agreement_cells(one)
        rows.append(Row(tuple(cells), "baseline" if metric == REFERENCE else "plain"))
    return Table(
        "agreement",
        "Agreement with people",
        "How well each metric's segment scores agree with people's, with 95 % bootstrap intervals over sources.",
        tuple(columns),
        tuple(rows),
        tuple(_notes(results)),
    )


def _agreement_cells(one: Agreement | None) -> list[Cell]:
    if one is None:
        return [Cell()] * 5
    return [
        Cell(fixed(one.tau, 3)),
        Cell(fixed(one.low, 3)),
        Cell(fixed(one.high, 3)),
        Cell(difference(one.difference)),
        Cell(fixed(one.p_value, 3)),
    ]


def difference(value: float | None) -> str:
    """Of two agreements, with its sign and three decimals, never "-0.000"; "" for None."""
    return "" if value is None else f"{round(value, 3) + 0.0:+.3f}"


def _notes(results: MetricResults) -> list[str]:
    notes = []
    for name in results.config["test_sets"]:
        one = next(a for a in results.agreements if a.test_set == name)
        pairs = "" if one.pairs is None else f", {one.pairs:,} pairs"
        notes.append(
            f"{name}: {STATISTICS[one.statistic]}, {one.segments:,} segments{pairs}, SHA-256 of the judgements "
            f"{one.test_set_sha256[:16]}."
        )
    first = results.agreements[0]
    notes.append(
        f"p: by {results.config['evaluation']['permutations']:,} permutations against the reference; intervals by "
        f"{first.resamples:,} resamples, seed {first.seed}."
    )
    if ENSEMBLE in results.metrics:
        notes.append("The ensemble is the mean of all members; the reference is its first.")
    return notes


def paper_table(results: MetricResults, number: int) -> Table:
    """Table 1 (MQM) or 2 (DARR) of COMETINHO; ours beside the columns that a test set names as its `paper`."""
    printed = papers.load_table("cometinho", number)
    ours = {
        entry["paper"]: name
        for name, entry in results.config["test_sets"].items()
        if entry.get("paper") in printed.columns
    }
    columns = [
        Column("metric", "Metric", numeric=False),
        Column("params_m", "Parameters, M", "paper"),
        Column("our_params_m", "Parameters, M", "ours"),
    ]
    taus = [name for name in printed.columns if name not in ("metric", "params_m")]
    complete = set(taus) - set(ours) == {MEAN}
    for name in taus:
        title = name.replace("_", ", ")
        columns.append(Column(name, title, "paper"))
        if name in ours:
            columns += [
                Column(f"{name}_ours", title, "ours"),
                Column(f"{name}_low", title, "from"),
                Column(f"{name}_high", title, "to"),
            ]
        elif name == MEAN and complete:
            columns.append(Column(f"{name}_ours", title, "ours"))
    own = {PRINTED.get(metric, metric): metric for metric in results.metrics}
    lines = printed.to_dict("records")
    lines += [{"metric": name} for name in own if name not in set(printed["metric"])]
    rows = []
    for line in lines:
        metric = own.get(line["metric"])
        size = results.size(metric) if metric else None
        cells = [
            Cell(line["metric"]),
            Cell(line.get("params_m", "")),
            Cell(three_digits(size.parameters / MILLION) if size else ""),
        ]
        found = []
        for name in taus:
            cells.append(Cell(line.get(name, "")))
            if name in ours:
                one = results.agreement(metric, ours[name]) if metric else None
                shown = (one.tau, one.low, one.high) if one else (None,) * 3
                cells += [Cell(fixed(value, 3)) for value in shown]
                found.append(shown[0])
            elif name == MEAN and complete:
                cells.append(Cell("" if None in found else fixed(fmean(found), 3)))
        rows.append(Row(tuple(cells), "plain" if metric else "absent"))
    what = {1: "Kendall's τ-b on MQM segments", 2: "The τ-like statistic on relative ranks (DARR)"}
    return Table(
        f"cometinho_table{number}",
        f"COMETINHO, table {number}",
        f"{what[number]}: the paper's metrics, and ours in their places, with 95 % intervals.",
        tuple(columns),
        tuple(rows),
        (
            "Our reference stands beside COMET, and what is made of it beside PRUNE-COMET and DISTIL-COMET: "
            "models of the experiment's own size and data, so only their distances can be compared. BLEU and chrF "
            "need no model: they should come near the paper's.",
        ),
    )


def claims_table(results: MetricResults) -> Table:
    """What the paper claims in its text, and the same by our measurements where there are some."""
    ours = _our_claims(results)
    rows = tuple(
        Row(
            (
                Cell(line["claim"]),
                Cell(line["value"]),
                Cell(ours.get(line["claim"], "")),
                Cell(line["unit"]),
                Cell(line["where"]),
            ),
            "plain" if line["claim"] in ours else "absent",
        )
        for line in papers.load("cometinho_claims").to_dict("records")
    )
    return Table(
        "cometinho_claims",
        "COMETINHO, in the text",
        "What the paper says of sizes and times, and what ours are: times of one core, the paper's of a GPU.",
        (
            Column("claim", "Claim", numeric=False),
            Column("paper", "Value", "paper"),
            Column("ours", "Value", "ours"),
            Column("unit", "Unit", numeric=False),
            Column("where", "Where", numeric=False),
        ),
        rows,
        (
            "Our models are of other sizes than the paper's, which decides what a part of them costs.",
        ),
    )


def _our_claims(results: MetricResults) -> dict[str, str]:
    found: dict[str, str] = {}
    way = next((s.way for s in results.speeds if s.way.startswith("ours")), "")
    for count in (1, 8):
        plain = results.seconds("systems", REFERENCE, PLAIN, count)
        fast = results.seconds("systems", REFERENCE, way, count)
        if plain and fast:
            plural = "s" if count > 1 else ""
            claim = f"caching+length batching: time reduction scoring {count} system{plural}"
            found[claim] = _percent(1 - fast / plain)
    whole = results.size(REFERENCE)
    if whole is None:
        return found
    for count, claim in (
        (1, "parameters removed per pruned XLM-R-large layer"),
        (5, "parameters removed by pruning 5 top layers"),
    ):
        if size := results.size(LAYERS.format(count)):
            found[claim] = _percent(1 - size.parameters / whole.parameters)
    before = results.seconds("systems", REFERENCE, way, 1)
    segments = max((s.amount for s in results.speeds if s.study == "segments"), default=0)
    for metric, reduction in (
        (PRUNED, "PRUNE-COMET parameter reduction (19 layers; FFN 3072; 14 heads)"),
        (DISTILLED, "DISTIL-COMET size reduction"),
    ):
        if size := results.size(metric):
            found[reduction] = _percent(1 - size.parameters / whole.parameters)
        after = results.seconds("systems", metric, way, 1)
        if before and after and segments:
            found[f"{PRINTED[metric]} seconds per 1000 samples"] = fixed(1000 * after / segments, 2)
            found[f"{PRINTED[metric]} speed improvement"] = _percent(1 - after / before)
            if metric == DISTILLED:
                found["DISTIL-COMET speed factor"] = fixed(before / after, 3)
    return found


def _percent(share: float) -> str:
    return fixed(100 * share, 2)
