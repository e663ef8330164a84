"""Tables of pruning's value: each pruned student against its unpruned model and the baselines it should beat."""

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from weebill.evaluation.measurement import Variant
from weebill.evaluation.size.translation_size import Size, encoder_parameters, encoder_sparsity
from weebill.experiment.precisions import PRECISIONS, grid_of
from weebill.experiment.variants import UNPRUNED
from weebill.pruning.methods import pruning_method
from weebill.report import noise
from weebill.report.lookups import translation as lookup
from weebill.report.results import Results, first
from weebill.report.table import Cell, Column, Row, Table, delta, fixed, signed, three_digits
from weebill.report.tables import comparisons

if TYPE_CHECKING:
    from weebill.evaluation.quality.comparison import Comparison


def recipes_table(recipes: Mapping[str, Mapping[str, Any]]) -> Table:
    """Return the recipes of an experiment with all their settings."""
    rows = []
    for name, recipe in recipes.items():
        settings = ", ".join(f"{k} {v}" for k, v in recipe.items() if k != "method")
        rows.append(Row.of((name, recipe["method"], settings)))
    return Table(
        "recipes",
        "Recipes",
        "How each recipe prunes; config/README.md explains the settings.",
        Column.texts(recipe="Recipe", method="Method", settings="Settings"),
        rows,
    )


def worth_table(results: Results) -> Table:
    """Compare every pruned variant with the unpruned student, a random choice, and its shape trained from scratch."""
    rows, unpruned = [], set()
    for one in sorted(results.comparisons, key=_by_precision):
        variant, baseline = Variant.parse(one.variant), Variant.parse(one.baseline)
        if baseline not in unpruned and baseline.recipe == UNPRUNED:
            unpruned.add(baseline)
            cells = [
                *_model_cells(results, baseline),
                *comparisons.scores(one, "baseline_"),
                *[""] * 5,
            ]
            rows.append(Row.of(cells, baseline=True))
        cells = [*_model_cells(results, variant), *comparisons.scores(one), baseline.recipe]
        rows.append(Row.of([*cells, *comparisons.tested(one)]))
    return Table(
        "pruning",
        "What pruning is worth",
        "Each pruned student beside its unpruned self, beside a random choice of as many heads and neurons, "
        "and beside a student of its shape trained from scratch, where the experiment has them.",
        (
            *Column.texts(variant="Variant", method="Method"),
            Column("encoder_parameters_m", "Encoder params (M)", deltas=True),
            *Column.grouped("Sparsity", sparsity_att="Att.", sparsity_ffn="FFN"),
            Column("size_mib", "MiB", deltas=True),
            *comparisons.SCORE,
            *Column.texts(baseline="Compared with"),
            *comparisons.DIFFERENCE,
        ),
        rows,
        (
            "In brackets: as a ratio to the student's unpruned float32 model. Sparsity: shares of the "
            "encoder's attention (by width) and feed-forward neurons removed.",
            comparisons.PAIRED,
            *([comparisons.resolution_note(results.comparisons)] if results.comparisons else []),
            *map(comparisons.text_note, results.comparisons[:1]),
        ),
    )


def _by_precision(one: "Comparison") -> tuple[str, str]:
    """Return a sort key by student, then precision, so that variants follow the unpruned one of their precision."""
    variant = Variant.parse(one.variant)
    return variant.student, PRECISIONS.index(variant.precision)


def _model_cells(results: Results, variant: Variant) -> list[Cell | str]:
    """Return the cells of a variant's name, method and size."""
    size, whole = results.size(variant), results.size(variant.baseline)
    recipe = results.config["pruning"].get(variant.recipe)
    compared = "none" if variant == variant.baseline else "ratio"
    return [
        str(variant),
        pruning_method(recipe).label if recipe else "",
        Cell.compared(_encoder_millions(size), _encoder_millions(whole), compared),
        *(fixed(share, 2) for share in encoder_sparsity(size, whole)),
        Cell.compared(results.mebibytes(variant), results.mebibytes(variant.baseline), compared),
    ]


def _encoder_millions(size: Size | None) -> str:
    return three_digits(encoder_parameters(size.architecture) / 1e6) if size else ""


def pruned_speed_table(results: Results) -> Table:
    """Return the runtime's words per second of pruned and unpruned students, in float32 and each int8 precision."""
    precisions = _timed_precisions(results)
    columns = [Column("recipe", "Student and recipe", numeric=False)]
    for suffix, cores in (("", "1 core"), ("_all", "all cores")):
        for name in precisions:
            columns.append(Column(f"{name}{suffix}", f"Words/s, {cores}", name, deltas=True))
    recipes: dict[str, dict[str, None]] = {}
    for variant in lookup.students(results):
        if variant.recipe != UNPRUNED:
            recipes.setdefault(variant.student, {UNPRUNED: None})[variant.recipe] = None
    notes = ["In brackets: as a ratio to the unpruned student in the same precision."]
    if timed := first(results.speeds, by_runtime=True):
        notes.append(
            f"{timed.engine}; {lookup.source_words(timed)} in {timed.sentences:,} sentences, batches of "
            f"{timed.batch_size}, median of {len(timed.seconds)} interleaved rounds; {timed.hardware}."
        )
    rows = [
        _speed_row(results, student, recipe, precisions)
        for student, of_student in recipes.items()
        for recipe in of_student
    ]
    return Table(
        "pruning",
        "What pruning is worth: speed",
        "Source words per second of the runtime without a shortlist, each pruned student beside its unpruned self.",
        columns,
        rows,
        [*notes, *noise.notes(rows)],
    )


def _timed_precisions(results: Results) -> list[str]:
    """Return float32 and the precisions on the int8 grid that the runtime was timed with, int8 if there is none."""
    timed = {Variant.parse(row.variant).precision for row in results.speeds if row.by_runtime}
    found = [name for name in PRECISIONS if name in timed and grid_of(name) == "int8"]
    return ["float32", *(found or ["int8"])]


def _speed_row(results: Results, student: str, recipe: str, precisions: Sequence[str]) -> Row:
    cells = [f"{student}/{recipe}"]
    for all_cores in (False, True):
        for name in precisions:
            own, base = (
                lookup.runtime_speed(results, Variant(student, one, name), all_cores)
                for one in (recipe, UNPRUNED)
            )
            texts = lookup.words_per_second(own), lookup.words_per_second(base)
            kind = "none" if recipe == UNPRUNED else "ratio"
            cells.append(Cell.compared(*texts, kind, noise.mark(own.seconds) if own else ""))
    return Row.of(cells, baseline=recipe == UNPRUNED)


def findings(results: Results) -> list[str]:
    """Return a sentence for each pruned float32 student: its removed parts, and its BLEU against each baseline."""
    lines = {}
    for one in results.comparisons:
        variant = Variant.parse(one.variant)
        if variant.precision != "float32":
            continue
        shares = encoder_sparsity(results.size(variant), results.size(variant.baseline))
        kinds = zip(shares, ("attention heads", "feed-forward neurons"), strict=True)
        gone = [f"{share:.0%} of the {kind}" for share, kind in kinds if share]
        left = f"without {' and '.join(gone)} of its encoder" if gone else "with its whole encoder"
        line = lines.setdefault(f"`{variant}`, {left}: BLEU {fixed(one.score, 2)}", [])
        told, recipe = comparisons.in_words(one), results.config["pruning"][variant.recipe]
        by_chance = pruning_method(recipe).baseline == "chance"
        chosen = any(0 < share < 1 for share in shares)
        if by_chance and chosen and Variant.parse(one.baseline).recipe == UNPRUNED:
            told += ", which is all that choosing better than at random could save"
        line.append(told)
    return [f"{subject}, {', '.join(against)}." for subject, against in lines.items()]


# Baseline's kind → name of the opponent of a pruned student.
OPPONENTS = {
    None: "the unpruned student",
    "chance": "a random choice of as many parts",
    "from scratch": "a student of the same shape trained from scratch",
}


def summary(results: Results) -> list[str]:
    """Return sentences on pruned float32 students: against each kind of opponent, and the fastest of them."""
    return [*against_opponents(results), *_fastest(results)]


def against_opponents(results: Results) -> list[str]:
    """Return the numbers of float32 students that are shown better or worse than each kind of opponent, in words."""
    lines = []
    for kind, opponent in OPPONENTS.items():
        found = [one for one in results.comparisons if _opponent(results, one) == kind]
        if not found:
            continue
        better = [one for one in found if one.difference_low > 0]
        worse = [one for one in found if one.difference_high < 0]
        best = max(found, key=lambda one: one.difference)
        lines.append(
            f"Against {opponent}: of {len(found)} pruned students {len(better)} are shown to be better and "
            f"{len(worse)} worse, for {len(found) - len(better) - len(worse)} neither is shown; the best is "
            f"`{_pruned(Variant.parse(best.variant))}` with {comparisons.in_words(best)}."
        )
    return lines


def _pruned(variant: Variant) -> str:
    """Name a student and its recipe, because several students may have the same recipes."""
    return f"{variant.student}/{variant.recipe}"


def _opponent(results: Results, one: "Comparison") -> str | None:
    """Return the kind of baseline in a comparison of float32 students; "" if the summary leaves it out."""
    variant, baseline = Variant.parse(one.variant), Variant.parse(one.baseline)
    own = pruning_method(results.config["pruning"][variant.recipe])
    if variant.precision != "float32" or own.baseline:
        return ""
    if baseline.recipe == UNPRUNED:
        return None
    return pruning_method(results.config["pruning"][baseline.recipe]).baseline or ""


def _fastest(results: Results) -> list[str]:
    """Return a sentence on the fastest pruned student: its speed and size relative to the unpruned one."""
    timed = {}
    for one in results.comparisons:
        variant = Variant.parse(one.variant)
        own, base = (lookup.runtime_speed(results, v) for v in (variant, variant.baseline))
        if _opponent(results, one) is None and own and base:
            timed[variant] = own.words_per_second / base.words_per_second
    if not timed:
        return []
    variant = max(timed, key=timed.get)
    sizes = map(results.mebibytes, (variant.baseline, variant))
    smaller = delta(*sizes, "ratio").removeprefix("x")
    return [
        f"The fastest pruned student in float32, `{_pruned(variant)}`, translates {three_digits(timed[variant])}× as "
        f"fast by the runtime on one core as the unpruned student by the same engine, and is {smaller}× smaller."
    ]


def seeds_table(results: Results) -> Table:
    """Return a row for every comparison of a variant with a baseline over several seeds."""
    rows = []
    for one in results.seeds:
        by_seed = zip(one.seeds, one.scores, one.baseline_scores, strict=True)
        cells = [one.variant, str(len(one.seeds)), *_spread(one.scores)]
        cells += [Variant.parse(one.baseline).recipe, *_spread(one.baseline_scores)]
        cells += [
            *comparisons.differences(one),
            ", ".join(f"{seed}: {signed(a - b)}" for seed, a, b in by_seed),
        ]
        rows.append(Row.of(cells))
    return Table(
        "seeds",
        "Other seeds",
        "The same students, trained and pruned from several seeds: does what one seed shows hold for others?",
        (
            Column("variant", "Variant", numeric=False),
            Column("seeds", "Seeds"),
            *Column.grouped("BLEU", bleu="mean", bleu_deviation="standard deviation"),
            Column("baseline", "Compared with", numeric=False),
            *Column.grouped(
                "Its BLEU", baseline_bleu="mean", baseline_bleu_deviation="standard deviation"
            ),
            *Column.grouped(
                "Difference",
                difference="mean",
                difference_low="95 %, from",
                difference_high="95 %, to",
            ),
            Column("differences", "Difference by seed", numeric=False),
        ),
        rows,
        (
            "BLEU differences are above 0 where the variant is better. Intervals by bootstrap resampling of "
            "sentences and of seeds; with few seeds they are too narrow.",
            comparisons.resolution_note(results.seeds),
            comparisons.text_note(results.seeds[0]),
        ),
    )


def seeds_findings(results: Results) -> list[str]:
    """Return a sentence for each comparison of a float32 variant with a baseline."""
    return [
        f"`{one.variant}` over {len(one.seeds)} seeds: {comparisons.in_words(one)}."
        for one in results.seeds
        if Variant.parse(one.variant).precision == "float32"
    ]


def _spread(scores: Sequence[float]) -> list[str]:
    return [fixed(value, 2) for value in (statistics.mean(scores), statistics.stdev(scores))]
