"""First page of a translation experiment: teacher, students, and the best pruned and quantized ones."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from weebill.evaluation.measurement import Variant
from weebill.experiment.precisions import UNTUNED
from weebill.experiment.searches import search_name
from weebill.experiment.student_names import repeats
from weebill.report import noise
from weebill.report.costs import Job, hours
from weebill.report.front import chosen
from weebill.report.front.front import (
    Example,
    Front,
    cost_sentence,
    hours_cell,
    spread,
    times,
)
from weebill.report.lookups import translation as lookup
from weebill.report.results import Results, first
from weebill.report.table import Cell, Column, Row, Table, fixed, signed, signed_text, three_digits
from weebill.report.tables.comparisons import differences

if TYPE_CHECKING:
    from weebill.evaluation.timing.speed import Speed

GREEDY = search_name(1)
FIGURE = "speed/front"


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
    said = [_gain(results), _loss(results), cost_sentence(jobs, stages)]
    title = f"{config['experiment']}: from a teacher to small, fast students"
    verdict = [sentence for sentence in said if sentence]
    return Front(title, setting, verdict, chain_table(results, jobs), FIGURE)


def _gain(results: Results) -> str:
    """Say how much smaller and faster the best small student is than the teacher, for each engine."""
    teacher, one = lookup.teacher(results), chosen.best_small(results)
    if not one:
        return ""
    base = teacher or one.baseline
    name = f"teacher ({teacher.recipe})" if teacher else "unpruned student"
    own, whole = (results.mebibytes(v) for v in (one, base))
    if one == base:
        return f"`{one}`, the best student, has {own} MiB; nothing of half its size was measured."
    kind = "best student" if one == chosen.best_whole(results) else "best small student"
    ratio = f"{times(whole, own)}× smaller than"
    if results.size(one).parameter_bytes >= results.size(base).parameter_bytes:
        ratio = f"{times(own, whole)}× as large as"
    told = f"`{one}`, the {kind}, is {ratio} its {name}: {own} MiB instead of {whole}."
    parts = _same_engine(results, one, base)
    ours, other = lookup.speed(results, one), lookup.speed(results, base)
    if ours and other and ours.engine != other.engine:
        parts.insert(0, f"{_faster(ours, other)} by its own engine, {ours.engine}")
    return f"{told} On one core it is {', and '.join(parts)}." if parts else told


def _same_engine(results: Results, one: Variant, base: Variant) -> list[str]:
    """Compare a student with the teacher by each engine that timed both, in float32, as PyTorch's int8 is slow."""
    whole = Variant(one.student, one.recipe, "float32")
    parts = []
    for engine in _engines(results, whole) if whole != base else ():
        ours, other = (_of_engine(results, v, engine) for v in (whole, base))
        if ours and other:
            form = "" if one == whole else ", in float32"
            both = "the teacher's engine" if base.student == lookup.TEACHER else "the same engine"
            of_greedy = _against_greedy(results, ours, base)
            parts.append(f"{_faster(ours, other)} by {both}, {engine}{form}{of_greedy}")
    return parts


def _against_greedy(results: Results, ours: "Speed", base: Variant) -> str:
    """Compare a student, which searches greedily, with a greedy teacher; "" if none was timed."""
    greedy = Variant(base.student, GREEDY, base.precision)
    other = _of_engine(results, greedy, ours.engine)
    if base.student != lookup.TEACHER or base == greedy or other is None:
        return ""
    return f" ({_faster(ours, other)} as the teacher with the same greedy search)"


def _faster(ours: "Speed", other: "Speed") -> str:
    """Say how much faster one speed is, and if a measurement is noisy."""
    ratio = times(lookup.words_per_second(ours), lookup.words_per_second(other))
    return f"{ratio}× as fast{noise.warning(ours, other)}"


def _engines(results: Results, variant: Variant) -> list[str]:
    return [name for name in lookup.engines(results, variant) if "shortlist" not in name]


def _of_engine(results: Results, variant: Variant, engine: str) -> "Speed | None":
    found = lookup.speed(results, variant, engine=engine)
    return found if found and found.engine == engine else None


def _loss(results: Results) -> str:
    """State the best small student's loss to the teacher, and if its loss to the student is significant."""
    scores, one = lookup.scores(results), chosen.best_small(results)
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
        shown = "a loss" if step.difference_high < 0 else "neither a loss nor a gain"
        shown = "a gain" if step.difference_low > 0 else shown
        told += (
            f". Its difference to the unpruned student, {difference} (95 % interval {low} to {high}), "
            f"shows {shown}"
        )
    return f"{told}."


def step_hours(jobs: Sequence[Job], variant: Variant) -> float | None:
    """Return the hours of the jobs that made a model from its predecessor: training, pruning or quantizing."""
    student, recipe, precision = variant.student, variant.recipe, variant.precision
    if student == lookup.TEACHER:
        return None if recipe == GREEDY else hours(jobs, ["train_teacher"])
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
    chain, scores, teacher = chosen.roles(results), lookup.scores(results), lookup.teacher(results)
    small, rows = chosen.best_small(results), []
    none = " (here none is so small: it is the latter)" * (small == chosen.best_whole(results))
    bounded = any(one.low is not None for one in scores.values())
    for variant, role in chain.items():
        cells = [role, str(variant), *_score_cells(scores, variant, teacher, bounded)]
        own, whole = (results.mebibytes(v) for v in (variant, teacher))
        cells += [own, times(whole, own)]
        cells += _speed_cells(results, variant, teacher)
        cells += [_latency(results, variant), hours_cell(step_hours(jobs, variant))]
        rows.append(Row.of(cells, baseline=variant in (teacher, small)))
    notes = [
        f"BLEU: {lookup.scored_text(results)}; in brackets the difference to the teacher. Of each kind the table "
        "shows the model with the highest BLEU. It was chosen on the same test sets, which favours it. Bold: the "
        "teacher and the best small student, which has at most half the bytes of the best unpruned one"
        f"{none}.",
        "×: gain over the first row. PyTorch runs the teacher and the students, so its column compares like with "
        "like in float32; its int8 and log4 are exact, but not optimised for speed. The gain by the runtime includes "
        "that of its faster engine. Students search greedily.",
        "ms / sentence: median time to translate one sentence alone, by the engine that the model is shipped with. "
        "Hours: time of this step alone.",
        *_text_hours(jobs),
    ]
    return Table(
        "models",
        "The models in short",
        "From the teacher to the smallest student: quality, size, speed and cost.",
        (
            *Column.texts(role="Model", variant="Variant"),
            Column("bleu", "BLEU", deltas=True),
            *([Column("interval", "95 %")] if bounded else []),
            Column("mib", "MiB"),
            Column("smaller", "× smaller"),
            *Column.grouped("Words/s by PyTorch", wps_pytorch="1 core", faster_pytorch="×"),
            *Column.grouped("Words/s by the runtime", wps_runtime="1 core", faster_runtime="×"),
            Column("latency_ms", "ms / sentence"),
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
    scores: Mapping[Variant, lookup.Score], variant: Variant, teacher: Variant | None, bounded: bool
) -> list[Cell | str]:
    """Return BLEU with its difference to the teacher's, and its interval if `bounded`."""
    one, base = scores.get(variant), scores.get(teacher) if variant != teacher else None
    cell = Cell.compared(*(fixed(value and value.bleu, 2) for value in (one, base)), "difference")
    interval = f"{fixed(one.low, 2)}–{fixed(one.high, 2)}" if bounded and one else ""
    return [cell, *([interval] if bounded else [])]


def _speed_cells(results: Results, variant: Variant, teacher: Variant | None) -> list[Cell | str]:
    """Return words per second and gain by PyTorch, then by the runtime; gains are over the teacher by PyTorch."""
    cells = []
    base = lookup.speed(results, teacher) if teacher else None
    by_torch = next((e for e in lookup.engines(results, variant) if "runtime" not in e), "")
    for one in (_of_engine(results, variant, by_torch), lookup.runtime_speed(results, variant)):
        shown = lookup.words_per_second(one)
        faster = "" if variant == teacher else times(shown, lookup.words_per_second(base))
        cells += [Cell(shown, mark=noise.mark(one.seconds) if one else ""), faster]
    return cells


def _latency(results: Results, variant: Variant) -> str:
    """Format the median milliseconds per sentence, by the model's first engine."""
    engine = next(iter(lookup.engines(results, variant)), None)
    one = first(results.latencies, variant=str(variant), engine=engine)
    return three_digits(one.p50_ms) if one else ""


def examples(results: Results, files: Mapping[str, Sequence[str]]) -> list[Example]:
    """Return test sentences with the translations of all models of the page; only their position selects them.

    files: "test_set": a table of pairs; "translations": VARIANT/TEST_SET.txt of all variants.
    """
    from weebill.corpus.table import read_columns
    from weebill.text_files import read_lines

    pairs = read_columns(files["test_set"][0], ["source", "target"]).to_pylist()
    paths = {Variant(*Path(path).parts[-4:-1]): path for path in files["translations"]}
    roles = {v: role for v, role in chosen.roles(results).items() if v in paths}
    several = {role for role, count in Counter(roles.values()).items() if count > 1}
    chain = [(v, f"{role}, {v.student}" if role in several else role) for v, role in roles.items()]
    lines = {v: [*read_lines(paths[v])] for v in roles}
    found = []
    for index in spread(len(pairs)):
        rows = [("source", pairs[index]["source"]), ("reference", pairs[index]["target"])]
        rows += [(role, lines[v][index]) for v, role in chain]
        found.append(Example(rows))
    return found
