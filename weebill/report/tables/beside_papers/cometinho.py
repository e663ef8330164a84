"""Tables 1 and 2 of COMETINHO and the claims of its text: metrics and their agreement with people."""

from collections.abc import Sequence
from functools import partial
from itertools import product
from statistics import fmean

from weebill.experiment.metrics import (
    CACHED,
    DISTILLED,
    OURS_WAY,
    PLAIN,
    PRUNED,
    REFERENCE,
    SORTED,
    SORTED_CACHED,
    recipe_metrics,
)
from weebill.report import papers
from weebill.report.results import Results, first
from weebill.report.table import Column, fixed, three_digits
from weebill.report.tables.beside_papers.comparison import (
    PAPER_FIRST,
    Line,
    PaperTable,
    Printed,
    Quantity,
)

# Our metric → its name in the paper's tables.
PRINTED = {REFERENCE: "COMET", PRUNED: "PRUNE-COMET", DISTILLED: "DISTIL-COMET"}
MEAN = "avg"  # printed column with the mean of all others
SMALLER = {  # claim: our metric; the claim compares its parameters with the reference's
    "parameters removed per pruned XLM-R-large layer": "without-1-top-layers",
    "parameters removed by pruning 5 top layers": "without-5-top-layers",
    "PRUNE-COMET parameter reduction (19 layers; FFN 3072; 14 heads)": PRUNED,
    "DISTIL-COMET size reduction": DISTILLED,
}

# Note on parameters of XLM-R large with the paper's head [3072, 1536], and of its parts.
PRUNED_SHAPE = (
    "The paper's 460 M (21.1 % less) for PRUNE-COMET do not follow from the 19 layers, 14 heads and 3,072 neurons "
    "that it names, which give 469.6 M: 18 layers with 14 heads and 19 layers with 12 both give 459.7 M. A list of "
    "the authors' models names an encoder XLM-R_L19_H12_FF3072, which is the latter."
)


def _lines(results: Results, printed: list[Printed]) -> list[Line]:
    """Return the paper's metrics in order, with our counterparts in the same rows, then our other metrics.

    Each further pruning recipe has a row below PRUNE-COMET, with the same printed numbers.
    """
    rows = {row["metric"]: row for row in printed}
    recipes = {
        f"{PRINTED[PRUNED]}, {metric}": metric
        for metric in recipe_metrics(results.config)
        if metric != PRUNED
    }
    own = {PRINTED.get(metric, metric): metric for metric in results.metrics()}
    own = {name: metric for name, metric in own.items() if metric not in recipes.values()}
    names: list[str] = []
    for name in dict.fromkeys([*rows, *own]):
        names += [name, *(recipes if name == PRINTED[PRUNED] else ())]
    rows |= {name: rows[PRINTED[PRUNED]] for name in recipes}
    own |= recipes
    return [
        Line((name,), own.get(name), rows.get(name), kind="plain" if name in own else "absent")
        for name in names
    ]


def _parameters(results: Results, metric: str) -> str:
    size = results.size(metric)
    return three_digits(size.parameters / 1e6) if size else ""


def _quantities(results: Results, number: int) -> list[Quantity]:
    """Return the paper's columns; they have our numbers if a test set names the column in its key `paper`."""
    columns = papers.load_table("cometinho", number).columns
    ours = {
        entry["paper"]: name
        for name, entry in results.config["test_sets"].items()
        if entry.get("paper") in columns
    }
    taus = [name for name in columns if name not in ("metric", "params_m")]
    found = [Quantity("params_m", "Parameters, M", _parameters, ours_key="our_params_m")]
    for name in taus:
        read, bounds = None, {}
        if name in ours:
            read, low, high = (partial(_tau, end, ours[name]) for end in ("tau", "low", "high"))
            bounds = {"low": ("from", low), "high": ("to", high)}
        elif name == MEAN and set(taus) - set(ours) == {MEAN}:
            read = partial(_mean_tau, [ours[name] for name in taus if name in ours])
        found.append(Quantity(name, name.replace("_", ", "), read, bounds=bounds))
    return found


def _tau(end: str, test_set: str, results: Results, metric: str) -> str:
    one = results.agreement(metric, test_set)
    return fixed(getattr(one, end), 3) if one else ""


def _mean_tau(test_sets: Sequence[str], results: Results, metric: str) -> str:
    found = [results.agreement(metric, name) for name in test_sets]
    taus = [one and one.tau for one in found]
    return "" if None in taus else fixed(fmean(taus), 3)


def _table(number: int, statistic: str) -> PaperTable:
    name, label = f"cometinho_table{number}", f"COMETINHO, table {number}"
    return PaperTable(
        name,
        name,
        label,
        f"{statistic}: the paper's metrics, and ours in their places, with 95 % intervals.",
        Column.texts(metric="Metric"),
        _lines,
        partial(_quantities, number=number),
        lambda results: (
            "Our reference is in the place of COMET, and the metrics made from it in those of PRUNE-COMET and "
            "DISTIL-COMET. Sizes and data are the experiment's own, so compare only the differences between models. "
            "BLEU and chrF need no model: they should come near the paper's.",
            PRUNED_SHAPE,
            "No package has PRISM, a translation model: its row is the paper's alone, unless a test set names a file "
            "of its scores (`scores`). BERTScore and BLEURT can be scored (`metrics`).",
        ),
        label,
        "cometinho_table",
        sides=PAPER_FIRST,
    )


def _claim_lines(results: Results, printed: list[Printed]) -> list[Line]:
    ours = _our_claims(results)
    rows, not_printed = {row["claim"]: row for row in printed}, {"unit": "percent", "where": ""}
    return [
        Line(
            (one,),
            ours.get(one),
            rows.get(one, not_printed),
            kind="plain" if one in ours else "absent",
        )
        for one in dict.fromkeys([*rows, *ours])
    ]


def _parts_of_speed(ours: str) -> dict[str, tuple[str, str]]:
    """Return what makes scoring faster → the ways without and with it.  ours: way of our scorer."""
    return {
        "caching+length batching": (PLAIN, SORTED_CACHED),
        "length batching alone": (PLAIN, SORTED),
        "caching alone": (PLAIN, CACHED),
        "our scorer beside caching+length batching": (SORTED_CACHED, ours),
    }


def _our_claims(results: Results) -> dict[str, str]:
    found: dict[str, str] = {}
    way = next((s.way for s in results.speeds if s.way.startswith(OURS_WAY)), "")

    def seconds(metric: str, way: str, count: int) -> float | None:
        one = first(results.speeds, study="systems", metric=metric, way=way, amount=count)
        return one and one.median

    for count, (what, (slow, fast)) in product((1, 8), _parts_of_speed(way).items()):
        both = [seconds(REFERENCE, one, count) for one in (slow, fast)]
        if None not in both:
            claim = f"{what}: time reduction scoring {count} system{'s' * (count > 1)}"
            found[claim] = _percent(1 - both[1] / both[0])
    whole = results.size(REFERENCE)
    if whole is None:
        return found
    for claim, metric in SMALLER.items():
        if size := results.size(metric):
            found[claim] = _percent(1 - size.parameters / whole.parameters)
    before = seconds(REFERENCE, way, 1)
    segments = max((s.amount for s in results.speeds if s.study == "segments"), default=0)
    for metric in (PRUNED, DISTILLED):
        after = seconds(metric, way, 1)
        if before and after and segments:
            found[f"{PRINTED[metric]} seconds per 1000 samples"] = fixed(1000 * after / segments, 2)
            found[f"{PRINTED[metric]} speed improvement"] = _percent(1 - after / before)
            found[f"{PRINTED[metric]} speed factor"] = fixed(before / after, 3)
    return found


def _percent(share: float) -> str:
    return fixed(100 * share, 2)


TABLES = (
    _table(1, "Kendall's τ-b on MQM segments"),
    _table(2, "The τ-like statistic on relative ranks (DARR)"),
    PaperTable(
        "cometinho_claims",
        "cometinho_claims",
        "COMETINHO, in the text",
        "Sizes and times in the paper's text, and ours. Our times are of one core, the paper's of a GPU.",
        Column.texts(claim="Claim"),
        _claim_lines,
        lambda results: (Quantity("value", "Value", lambda results, text: text),),
        lambda results: (
            "Our models are of other sizes than the paper's, which decides what a part of them costs.",
            PRUNED_SHAPE,
        ),
        "COMETINHO, in the text",
        "cometinho_claims",
        sides={"paper": "paper", "ours": "ours"},
        details=("unit", "where"),
        uses=("speeds",),
    ),
)
