"""First page of a translation experiment: teacher, students, and the best pruned and quantized ones."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from weebill.evaluation.measurement import Variant
from weebill.experiment.precisions import UNTUNED
from weebill.experiment.student_names import repeats
from weebill.experiment.variants import UNPRUNED
from weebill.pruning.methods import pruning_method
from weebill.report import noise
from weebill.report.costs import Job, hours
from weebill.report.front.front import (
    Example,
    Front,
    cost_sentence,
    evenly,
    hours_cell,
    signed_text,
    times,
)
from weebill.report.lookups import translation as lookup
from weebill.report.results import Results, first
from weebill.report.table import Cell, Column, Row, Table, fixed, signed, three_digits
from weebill.report.tables.comparisons import differences

SMALL = 0.5  # largest size of a small student, as a share of its unpruned float32 model's
FIGURE = "speed/front"
EXAMPLES = 10
Roles = Mapping[Variant, str]


def front(
    results: Results, jobs: Sequence[Job], stages: Sequence[tuple[str, Sequence[str]]]
) -> Front:
    """Return the first page."""
    config, languages = results.config, results.config["languages"]
    setting = [
        ("Languages", f"{languages['source']} to {languages['target']}"),
        ("Corpora", ", ".join(config["corpora"])),
        ("Test sets", ", ".join(config["test_sets"])),
        ("Students", ", ".join(name for name in config["students"] if not repeats(name))),
        ("Machine", ", ".join(sorted({one.hardware for one in results.speeds}))),
        ("Seed", str(config["seed"])),
    ]
    chain = roles(results)
    said = [_gain(results, chain), _loss(results, chain), cost_sentence(jobs, stages)]
    title = f"{config['experiment']}: from a teacher to small, fast students"
    verdict = [sentence for sentence in said if sentence]
    return Front(title, setting, verdict, chain_table(results, jobs), FIGURE)


def roles(results: Results) -> Roles:
    """Return the models of the first page by their roles: the teacher, each student, and the best smaller ones.

    The best of a kind has the highest BLEU of those that were measured; baselines of pruning and trainings from
    other seeds are left out.  The first with "small" in its role is the one that the verdict speaks of.
    """
    scores, found = lookup.scores(results), {}
    if teacher := lookup.teacher(results):
        found[teacher] = "teacher"
    students = [v for v in lookup.students(results) if v in scores and not repeats(v.student)]
    wholes = [v for v in students if v == v.baseline]
    found |= dict.fromkeys(wholes, "student")
    kinds = {
        "best pruned": lambda v: v.recipe != UNPRUNED and v.precision == "float32",
        "best quantized": lambda v: v.recipe == UNPRUNED and v.precision != "float32",
        "best pruned and quantized": lambda v: v.recipe != UNPRUNED and v.precision != "float32",
    }
    worth = [v for v in students if not _is_baseline(results, v)]
    for role, belongs in kinds.items():
        if chosen := [v for v in worth if belongs(v)]:
            found[best(results, chosen)] = role
    if chosen := small(results, worth):
        one = best(results, chosen)
        found[one] = ", ".join([*([found[one]] if one in found else []), "best small student"])
    return found


def small(results: Results, students: Sequence[Variant]) -> list[Variant]:
    """Return the students with at most half the bytes of the best unpruned one."""
    wholes = [v for v in students if v == v.baseline]
    if not wholes:
        return []
    limit = SMALL * results.size(best(results, wholes)).parameter_bytes
    return [v for v in students if results.size(v).parameter_bytes <= limit]


def best(results: Results, students: Sequence[Variant]) -> Variant:
    """Return the student with the highest BLEU; of equals, the smallest."""
    scores = lookup.scores(results)
    return max(students, key=lambda v: (scores[v].bleu, -results.size(v).parameter_bytes))


def _is_baseline(results: Results, variant: Variant) -> bool:
    recipe = results.config.get("pruning", {}).get(variant.recipe)
    return bool(recipe) and pruning_method(recipe).baseline is not None


def _headline(chain: Roles) -> Variant | None:
    """Return the best small student, or the best other one."""
    order = ("small", "pruned and quantized", "quantized", "pruned", "student")
    return next((v for word in order for v, role in chain.items() if word in role), None)


def _gain(results: Results, chain: Roles) -> str:
    """Say how much smaller and faster the best small student is than the teacher, engine beside engine."""
    teacher, one = lookup.teacher(results), _headline(chain)
    if not one:
        return ""
    base = teacher or one.baseline
    name = "teacher" if teacher else "unpruned student"
    own, whole = (lookup.mebibytes(results.size(v)) for v in (one, base))
    told = f"`{one}` ({chain[one]}) has {own} MiB, {times(whole, own)}× smaller than its {name}"
    parts = []
    for engine in _engines(results, one):
        ours, other = (_of_engine(results, v, engine) for v in (one, base))
        if ours and other:
            parts.append(f"{_faster(ours, other)} by the same engine, {engine}")
    ours, other = lookup.speed(results, one), lookup.speed(results, base)
    if ours and other and ours.engine != other.engine:
        parts.append(
            f"{_faster(ours, other)} by the engine that students are shipped with, {ours.engine}, "
            f"as the {name} is by {other.engine}"
        )
    return f"{told}; on one core it is {' and '.join(parts)}." if parts else f"{told}."


def _faster(ours, other) -> str:
    """Say how much faster one speed is, and if a measurement is noisy."""
    ratio = times(lookup.words_per_second(ours), lookup.words_per_second(other))
    return f"{ratio}× as fast{_noisy(ours, other)}"


def _noisy(*speeds: object) -> str:
    """Return a warning if the rounds of a speed spread too much."""
    return " (a noisy measurement)" if any(noise.mark(one.seconds) for one in speeds) else ""


def _engines(results: Results, variant: Variant) -> list[str]:
    return [name for name in lookup.engines(results, variant) if "shortlist" not in name]


def _of_engine(results: Results, variant: Variant, engine: str):
    found = lookup.speed(results, variant, engine=engine)
    return found if found and found.engine == engine else None


def _loss(results: Results, chain: Roles) -> str:
    """Say what the best small student loses against the teacher, and whether its loss to the student is shown."""
    scores, one = lookup.scores(results), _headline(chain)
    teacher = lookup.teacher(results)
    if not one:
        return ""
    told = f"It scores {fixed(scores[one].bleu, 2)} BLEU ({lookup.scored_text(results)})"
    if teacher in scores:
        change = signed(round(scores[one].bleu, 2) - round(scores[teacher].bleu, 2))
        told += f", the teacher {fixed(scores[teacher].bleu, 2)} ({signed_text(change)})"
    step = first(results.steps, variant=str(one))
    if step and step.baseline != str(teacher):
        difference, low, high = map(signed_text, differences(step))
        shown = step.difference_low > 0 or step.difference_high < 0
        told += (
            f"; against the unpruned student it is {difference} (95 % interval {low} to {high}), "
            f"{'a difference that is shown' if shown else 'which shows neither a loss nor a gain'}"
        )
    return f"{told}."


def step_hours(jobs: Sequence[Job], variant: Variant) -> float | None:
    """Return the hours of the jobs that made a model out of the one before it: training, pruning or quantizing."""
    student, recipe, precision = variant.student, variant.recipe, variant.precision
    if student == lookup.TEACHER:
        return hours(jobs, ["train_teacher"])
    if variant == variant.baseline:
        return hours(jobs, ["train_student", "import_student"], [student])
    name = f"{student}.{recipe}"
    if precision == "float32":
        return hours(jobs, ["prune"], [name])
    if precision in UNTUNED:
        return hours(jobs, ["quantize"], [f"{name}.{precision}"])
    return hours(jobs, ["finetune_quantized"], [f"{name}.{precision.removesuffix('-finetuned')}"])


def chain_table(results: Results, jobs: Sequence[Job] = ()) -> Table:
    """Return the table of the first page: a row for each model of `roles`, with its gain over the teacher."""
    chain, scores, teacher = roles(results), lookup.scores(results), lookup.teacher(results)
    has_intervals = any(one.low is not None for one in scores.values())
    rows = []
    for variant, role in chain.items():
        cells = [role, str(variant), *_score_cells(scores, variant, teacher, has_intervals)]
        cells += _size_cells(results, variant, teacher)
        cells += _speed_cells(results, variant, teacher)
        cells += [_latency(results, variant), hours_cell(step_hours(jobs, variant))]
        rows.append(Row.of(cells, baseline=variant == teacher or "small" in role))
    bleu = [Column("bleu", "BLEU", deltas=True)]
    if has_intervals:
        bleu += Column.grouped("BLEU, 95 %", bleu_low="from", bleu_high="to")
    notes = [
        f"BLEU: {lookup.scored_text(results)}; in brackets the difference to the teacher. Best: the highest BLEU of "
        "those measured, chosen on the same test sets, so rather too favourable.",
        "Gains (×) are against the teacher. Only PyTorch translates with both teacher and students, so its column "
        "compares like with like; the runtime's gain also has that of the engine in it. "
        "Hours: this step alone, without the steps before it.",
        *_text_hours(jobs),
    ]
    return Table(
        "models",
        "The models in short",
        "From the teacher to the smallest student: quality, size, speed and cost.",
        (
            *Column.texts(role="Model", variant="Variant"),
            *bleu,
            Column("mib", "MiB"),
            Column("smaller", "× smaller"),
            *Column.grouped("Words/s, 1 core, PyTorch", wps_pytorch="median", faster_pytorch="×"),
            *Column.grouped("Words/s, 1 core, runtime", wps_runtime="median", faster_runtime="×"),
            Column("latency_ms", "Sentence, ms"),
            Column("hours", "Hours"),
        ),
        rows,
        [*notes, *noise.notes(rows)],
    )


def _text_hours(jobs: Sequence[Job]) -> list[str]:
    taken = hours(jobs, ["translate_shard", "merge_corpus", "merge_distilled", "join_distilled"])
    if taken is None:
        return []
    return [f"All students share the teacher's translations, which took {hours_cell(taken)} hours."]


def _score_cells(
    scores, variant: Variant, teacher: Variant | None, bounds: bool
) -> list[Cell | str]:
    one, base = scores.get(variant), scores.get(teacher) if variant != teacher else None
    shown = [fixed(value and value.bleu, 2) for value in (one, base)]
    cell = Cell.compared(*shown, "difference")
    return [cell, *([fixed(one and one.low, 2), fixed(one and one.high, 2)] if bounds else [])]


def _size_cells(results: Results, variant: Variant, teacher: Variant | None) -> list[str]:
    shown = [lookup.mebibytes(results.size(v)) if v else "" for v in (variant, teacher)]
    return [shown[0], times(shown[1], shown[0])]


def _speed_cells(results: Results, variant: Variant, teacher: Variant | None) -> list[Cell | str]:
    """Return words per second and gain by PyTorch, then by the runtime, against the teacher by PyTorch."""
    cells = []
    base = lookup.speed(results, teacher) if teacher else None
    by_torch = next((e for e in lookup.engines(results, variant) if not _is_runtime(e)), "")
    for one in (_of_engine(results, variant, by_torch), lookup.runtime_speed(results, variant)):
        shown = lookup.words_per_second(one)
        faster = "" if variant == teacher else times(shown, lookup.words_per_second(base))
        cells += [Cell(shown, mark=noise.mark(one.seconds) if one else ""), faster]
    return cells


def _is_runtime(engine: str) -> bool:
    return "runtime" in engine


def _latency(results: Results, variant: Variant) -> str:
    """Format the median milliseconds of a sentence by the engine that a model is shipped with."""
    engine = next(iter(lookup.engines(results, variant)), None)
    one = first(results.latencies, variant=str(variant), engine=engine)
    return three_digits(one.p50_ms) if one else ""


def examples(results: Results, files: Mapping[str, Sequence[str]]) -> list[Example]:
    """Return test sentences on their way through the chain, chosen by their place in the test set alone.

    files: "test_set": a table of pairs; "translations": VARIANT/TEST_SET.txt of all variants.
    """
    from weebill.corpus.table import read_columns
    from weebill.text_files import read_lines

    pairs = read_columns(files["test_set"][0], ["source", "target"]).to_pylist()
    paths = {Variant(*Path(path).parts[-4:-1]): path for path in files["translations"]}
    chain = [(v, role) for v, role in roles(results).items() if v in paths]
    lines = {v: [*read_lines(paths[v])] for v, _ in chain}
    found = []
    for index in evenly(len(pairs), EXAMPLES):
        rows = [("source", pairs[index]["source"]), ("reference", pairs[index]["target"])]
        rows += [(f"{role}: {v}", lines[v][index]) for v, role in chain]
        found.append(Example(rows))
    return found
