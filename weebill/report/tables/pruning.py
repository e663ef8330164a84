"""Tables of the worth of pruning: each pruned student against its unpruned model and the baselines it should beat."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from weebill.evaluation.measurement import Variant
from weebill.evaluation.size.translation_size import MIB, Size, encoder_parameters, encoder_sparsity
from weebill.experiment.precisions import PRECISIONS, grid_of
from weebill.experiment.variants import UNPRUNED
from weebill.pruning.methods import pruning_method
from weebill.report.lookups import translation as lookup
from weebill.report.results import Results
from weebill.report.table import Cell, Column, Row, Table, delta, fixed, signed, three_digits

if TYPE_CHECKING:
    from weebill.evaluation.quality.comparison import Comparison


def recipes_table(recipes: Mapping[str, Mapping[str, Any]]) -> Table:
    """Return the recipes of an experiment with all their settings."""
    rows = [
        Row(
            (
                Cell(name),
                Cell(recipe["method"]),
                Cell(", ".join(f"{k} {v}" for k, v in recipe.items() if k != "method")),
            )
        )
        for name, recipe in recipes.items()
    ]
    return Table(
        "recipes",
        "Recipes",
        "How each recipe prunes; config/README.md explains the settings.",
        tuple(
            Column(key, key.capitalize(), numeric=False) for key in ("recipe", "method", "settings")
        ),
        tuple(rows),
    )


def worth_table(results: Results) -> Table:
    """Return every pruned variant against the unpruned student, a random choice, and its shape from scratch."""
    columns = (
        Column("variant", "Variant", numeric=False),
        Column("method", "Method", numeric=False),
        Column("encoder_parameters_m", "Encoder params (M)", deltas=True),
        Column("sparsity_att", "Sparsity", "Att."),
        Column("sparsity_ffn", "Sparsity", "FFN"),
        Column("size_mib", "MiB", deltas=True),
        Column("bleu", "BLEU"),
        Column("bleu_low", "BLEU, 95 %", "from"),
        Column("bleu_high", "BLEU, 95 %", "to"),
        Column("baseline", "Compared with", numeric=False),
        Column("difference", "BLEU difference"),
        Column("difference_low", "BLEU difference, 95 %", "from"),
        Column("difference_high", "BLEU difference, 95 %", "to"),
        Column("p", "p"),
    )
    rows, unpruned = [], set()
    for one in sorted(results.comparisons, key=_by_precision):
        if one.baseline not in unpruned and Variant.parse(one.baseline).recipe == UNPRUNED:
            unpruned.add(one.baseline)
            scores = (one.baseline_score, one.baseline_low, one.baseline_high)
            cells = _model_cells(results, Variant.parse(one.baseline), scores)
            rows.append(Row((*cells, *[Cell()] * 5), "baseline"))
        scores = (one.score, one.low, one.high)
        cells = _model_cells(results, Variant.parse(one.variant), scores)
        rows.append(Row((*cells, *_difference_cells(one))))
    first = results.comparisons[0] if results.comparisons else None
    notes = [
        "In brackets: as a ratio to the student's unpruned float32 model. Sparsity: shares of the "
        "encoder's attention (by width) and feed-forward neurons removed.",
        "BLEU differences are above 0 where the variant is better than what it is compared with; p: of the "
        "difference, by paired bootstrap resampling, as its 95 % interval.",
    ]
    if first:
        notes.append(
            f"BLEU of {first.sentences:,} sentences, {' and '.join(first.test_sets)} together; signature "
            f"{first.signature}."
        )
    return Table(
        "pruning",
        "What pruning is worth",
        "Each pruned student beside its unpruned self, beside a random choice of as many heads and neurons, "
        "and beside a student of its shape trained from scratch, where the experiment has them.",
        columns,
        tuple(rows),
        tuple(notes),
    )


def _by_precision(one: "Comparison") -> tuple[str, str]:
    """Return a sort key by student, then precision, so that variants follow the unpruned one of their precision."""
    variant = Variant.parse(one.variant)
    return variant.student, PRECISIONS.index(variant.precision)


def _model_cells(results: Results, variant: Variant, scores: Sequence[float]) -> list[Cell]:
    """Return the cells of a variant's name, method, size and BLEU."""
    size, whole = results.size(variant), results.size(variant.baseline)
    recipe = results.config["pruning"].get(variant.recipe)
    sparsity = encoder_sparsity(size, whole)
    parameters, mib = _encoder_millions(size), three_digits(size.parameter_bytes / MIB)
    whole_mib = three_digits(whole.parameter_bytes / MIB)
    is_whole = variant == variant.baseline
    return [
        Cell(str(variant)),
        Cell(pruning_method(recipe).label if recipe else ""),
        Cell(parameters, "" if is_whole else delta(parameters, _encoder_millions(whole), "ratio")),
        *(Cell(fixed(share, 2)) for share in sparsity),
        Cell(mib, "" if is_whole else delta(mib, whole_mib, "ratio")),
        *(Cell(fixed(score, 2)) for score in scores),
    ]


def _encoder_millions(size: Size) -> str:
    return three_digits(encoder_parameters(size.architecture) / 1e6)


def _difference_cells(one: "Comparison") -> list[Cell]:
    bounds = (one.difference, one.difference_low, one.difference_high)
    return [
        Cell(Variant.parse(one.baseline).recipe),
        *(Cell(signed(value)) for value in bounds),
        Cell(fixed(one.p_value, 3)),
    ]


def pruned_speed_table(results: Results) -> Table:
    """Return the runtime's words per second for each pruned student and its unpruned model, in float32 and int8.

    Every precision on the int8 grid has its own columns.
    """
    students = lookup.students(results)
    precisions = _timed_precisions(results)
    columns = [Column("recipe", "Student and recipe", numeric=False)]
    for suffix, cores in (("", "1 core"), ("_all", "all cores")):
        for name in precisions:
            columns.append(Column(f"{name}{suffix}", f"Words/s, {cores}", name, deltas=True))
    pruned = dict.fromkeys((v.student, v.recipe) for v in students if v.recipe != UNPRUNED)
    rows = []
    for student in dict.fromkeys(student for student, _ in pruned):
        recipes = [UNPRUNED, *(recipe for name, recipe in pruned if name == student)]
        rows += [_speed_row(results, student, recipe, precisions) for recipe in recipes]
    notes = ["In brackets: as a ratio to the unpruned student in the same precision."]
    if timed := [speed for speed in results.speeds if speed.by_runtime]:
        first = timed[0]
        notes.append(
            f"{first.engine}; {first.words:,} source words in {first.sentences:,} sentences, batches of "
            f"{first.batch_size}, median of {len(first.seconds)} interleaved rounds; {first.hardware}."
        )
    return Table(
        "pruning",
        "What pruning is worth: speed",
        "Source words per second of the runtime without a shortlist, each pruned student beside its unpruned self.",
        tuple(columns),
        tuple(rows),
        tuple(notes),
    )


def _timed_precisions(results: Results) -> list[str]:
    """Return float32 and the precisions on the int8 grid that the runtime was timed with, int8 if there is none."""
    timed = {Variant.parse(row.variant).precision for row in results.speeds if row.by_runtime}
    found = [name for name in PRECISIONS if name in timed and grid_of(name) == "int8"]
    return ["float32", *(found or ["int8"])]


def _speed_row(results: Results, student: str, recipe: str, precisions: Sequence[str]) -> Row:
    cells = [Cell(f"{student}/{recipe}")]
    for all_cores in (False, True):
        for name in precisions:
            speed = _words_per_second(results, Variant(student, recipe, name), all_cores)
            base = _words_per_second(results, Variant(student, UNPRUNED, name), all_cores)
            cells.append(Cell(speed, "" if recipe == UNPRUNED else delta(speed, base, "ratio")))
    return Row(tuple(cells), "baseline" if recipe == UNPRUNED else "plain")


def _words_per_second(results: Results, variant: Variant, all_cores: bool) -> str:
    """Return the runtime's words per second as text, "" if the variant was not timed with the runtime."""
    speed = lookup.speed(results, variant, all_cores)
    return fixed(speed.words_per_second, 0) if speed and speed.by_runtime else ""


def findings(results: Results) -> list[str]:
    """Return a sentence for each pruned float32 student: its removed parts, and its BLEU against each baseline.

    The sentence on a random choice adds that its loss limits the gain of any better choice, except by luck.
    """
    lines = {}
    for one in results.comparisons:
        variant = Variant.parse(one.variant)
        if variant.precision != "float32":
            continue
        shares = encoder_sparsity(results.size(variant), results.size(variant.baseline))
        kinds = ("attention heads", "feed-forward neurons")
        gone = [
            f"{share:.0%} of the {kind}" for share, kind in zip(shares, kinds, strict=True) if share
        ]
        left = f"without {' and '.join(gone)} of its encoder" if gone else "with its whole encoder"
        line = lines.setdefault(f"`{variant}`, {left}: BLEU {fixed(one.score, 2)}", [])
        bounds = (one.difference, one.difference_low, one.difference_high)
        difference, low, high = (signed(value).replace("-", "−") for value in bounds)
        other = Variant.parse(one.baseline).recipe
        told = f"{difference} ({low} to {high}) against `{other}`"
        recipe = results.config["pruning"][variant.recipe]
        by_chance = pruning_method(recipe).baseline == "chance"
        chosen = any(0 < share < 1 for share in shares)
        if by_chance and chosen and other == UNPRUNED:
            told += ", which is all that choosing better than at random could save"
        line.append(told)
    return [f"{subject}, {', '.join(against)}." for subject, against in lines.items()]
