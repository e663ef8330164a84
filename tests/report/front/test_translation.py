"""The first page of a translation experiment shows size, speed, loss and cost."""

from dataclasses import replace

import pytest

from tests.report.conftest import SIGNATURE
from weebill.evaluation.quality.comparison import Comparison
from weebill.files import write_text
from weebill.report import rendering
from weebill.report.costs import Job
from weebill.report.front import translation as front
from weebill.report.front.chosen import roles
from weebill.report.noise import NOTE

JOBS = [
    Job("train_teacher", "0", 5400.0, 900.0),
    Job("train_teacher", "1", 1800.0, 900.0),
    Job("train_student", "small", 3600.0, 900.0),
    Job("train_student", "other", 360.0, 900.0),
    Job("finetune_quantized", "small.unpruned.int8", 900.0, 900.0),
    Job("translate_shard", "a/0", 720.0, 900.0),
]
STAGES = [("Teacher", ["train_teacher"]), ("Students", ["train_student"]), ("Pruning", ["prune"])]
SMALL = "small/unpruned/int8-finetuned"


@pytest.fixture
def shown(results):
    more = {"seed": 1, "corpora": {"tatoeba": {}}, "students": ["small", "other"]}
    results.config = {**results.config, **more}
    return results


def read(table) -> dict[str, dict[str, str]]:
    lines = [line.split(",") for line in rendering.to_csv(table).splitlines()]
    rows = [dict(zip(lines[0], line[-len(lines[0]) :], strict=True)) for line in lines[1:]]
    return {row["variant"]: row for row in rows}


def test_the_verdict_tells_size_speed_loss_and_cost(shown):
    gain, loss, cost = front.front(shown, JOBS, STAGES).verdict
    assert gain == (
        f"`{SMALL}`, the best small student, is 8.00× smaller than its teacher (beam-4): 15.0 MiB instead of 120. "
        "On one core it is 15.0× as fast by its own engine, Weebill runtime (vnni), and 2.50× as fast by the "
        "teacher's engine, PyTorch reference, in float32 (0.71× as fast as the teacher with the same greedy search)."
    )
    assert loss == "It scores 35.88 BLEU (mean of first and second), the teacher 37.00 (−1.12)."
    assert cost == "The run times of all jobs add up to 3.5 hours (teacher 2.0, students 1.1)."


def test_the_table_has_the_best_of_each_kind_and_what_its_step_took(shown):
    rows = read(front.chain_table(shown, JOBS))
    assert [*rows] == [
        "teacher/beam-4/float32",
        "teacher/greedy/float32",
        "small/unpruned/float32",
        "other/unpruned/float32",
        "small/pushy-i6/float32",
        SMALL,
        "small/pushy-i6/int8-finetuned",
    ]
    one = rows[SMALL]
    assert (one["bleu"], one["bleu_delta"], one["mib"], one["smaller"]) == (
        "35.88",
        "-1.12",
        "15.0",
        "8.00",
    )
    assert (one["wps_pytorch"], one["faster_pytorch"]) == ("750", "3.75")
    assert (one["wps_runtime"], one["faster_runtime"]) == ("3000", "15.0")
    assert (one["latency_ms"], one["hours"]) == ("1.00", "0.250")
    assert [rows[v]["hours"] for v in [*rows][:4]] == ["2.0", "", "1.0", "0.100"]


def keep(results, mebibytes: dict[str, int]) -> None:
    """Keep only the measurements of some variants, with these sizes."""
    for rows in ("sizes", "qualities", "speeds"):
        kept = [one for one in getattr(results, rows) if one.variant in mebibytes]
        setattr(results, rows, kept)
    results.sizes = [
        replace(one, parameter_bytes=mebibytes[one.variant] * 2**20) for one in results.sizes
    ]


def gain(results) -> str:
    return front.front(results, [], STAGES).verdict[0]


def test_a_student_alone_is_not_compared_with_itself(shown):
    keep(shown, {"small/unpruned/float32": 60, "small/unpruned/int8": 55})
    assert gain(shown) == (
        "`small/unpruned/float32`, the best student, has 60.0 MiB; nothing of half its size was measured."
    )
    keep(shown, {"small/unpruned/float32": 60, "small/unpruned/int8": 15})
    assert gain(shown) == (
        "`small/unpruned/int8`, the best small student, is 4.00× smaller than its unpruned student: 15.0 MiB instead "
        "of 60.0."
    )


@pytest.mark.parametrize(
    ("mib", "told"),
    [(60, "2.00× smaller than"), (120, "1.00× as large as"), (360, "3.00× as large as")],
)
def test_a_student_as_large_as_its_teacher_is_not_told_to_be_smaller(shown, mib, told):
    """Without quantization, no student may have half the bytes of the best one."""
    keep(shown, {"teacher/beam-4/float32": 120, "small/unpruned/float32": mib})
    begin = f"`small/unpruned/float32`, the best student, is {told} its teacher (beam-4)"
    assert gain(shown).startswith(begin)
    assert "here none is so small" in front.chain_table(shown).notes[0]


def test_slow_teachers_are_told_with_decimals(shown):
    """If 3.4 words per second were shown as 3, a student with 2,000 would seem a tenth faster than it is."""
    shown.speeds = [
        replace(one, words_per_second=3.4) if one.variant == "teacher/beam-4/float32" else one
        for one in shown.speeds
    ]
    rows = read(front.chain_table(shown, JOBS))
    assert rows["teacher/beam-4/float32"]["wps_pytorch"] == "3.40"
    assert rows["small/unpruned/float32"]["faster_runtime"] == "588.2"


def test_gains_are_over_the_teacher_in_the_first_row_though_it_was_not_timed(shown):
    """With `teacher_sentences: 0`, no teacher is timed."""
    shown.speeds = [one for one in shown.speeds if not one.variant.startswith("teacher/")]
    [(first, whole), *others] = read(front.chain_table(shown, JOBS)).items()
    assert (first, whole["mib"], whole["wps_pytorch"]) == ("teacher/beam-4/float32", "120", "")
    assert dict(others)[SMALL]["smaller"] == "8.00"
    assert "teacher/greedy/float32" not in dict(others)


def test_a_shown_difference_to_the_student_is_told_as_such(shown):
    def step(variant, baseline, score, low, high):
        base = (
            variant,
            baseline,
            ["first", "second"],
            9,
            score,
            score - 1,
            score + 1,
            37.0,
            36.0,
            38.0,
        )
        return Comparison(*base, score - 37.0, low, high, 0.01, SIGNATURE)

    whole, teacher = "small/unpruned/float32", "teacher/beam-4/float32"
    shown.steps = [step(whole, teacher, 36.5, -1.0, 0.5), step(SMALL, whole, 36.0, -1.5, -0.5)]
    loss = front.front(shown, [], []).verdict[1]
    assert loss == (
        "It scores 36.00 BLEU (first and second together), the teacher 37.00 (−1.00). Its difference to the unpruned "
        "student, −1.00 (95 % interval −1.50 to −0.50), shows a loss."
    )
    shown.steps[1] = step(SMALL, whole, 36.0, -1.5, 0.25)
    assert front.front(shown, [], []).verdict[1].endswith(", shows neither a loss nor a gain.")
    shown.steps[1] = step(SMALL, whole, 36.0, 0.5, 1.5)
    assert front.front(shown, [], []).verdict[1].endswith(", shows a gain.")
    assert read(front.chain_table(shown))[SMALL]["interval"] == "35.00–37.00"


def test_a_noisy_speed_is_marked_and_explained(shown):
    table = front.chain_table(shown)
    assert NOTE not in table.notes and "~" not in rendering.to_markdown(table)
    shown.speeds = [
        replace(one, seconds=[1.0, 1.1, 1.5]) if one.variant == SMALL else one
        for one in shown.speeds
    ]
    table = front.chain_table(shown)
    assert NOTE in table.notes and "| 750~ |" in rendering.to_markdown(table)
    assert "~" not in rendering.to_csv(table)
    assert "(a noisy measurement)" in front.front(shown, [], []).verdict[0]


def test_examples_go_through_the_chain_in_its_order(shown, tmp_path):
    from weebill.corpus.table import SCHEMA, TableWriter

    pairs = [(f"source {n}", f"target {n}") for n in range(30)]
    with TableWriter(tmp_path / "first.parquet", SCHEMA) as writer:
        import pyarrow as pa

        columns = {name: [None] * 30 for name in SCHEMA.names}
        columns |= {side: [p[i] for p in pairs] for i, side in enumerate(("source", "target"))}
        columns |= {"corpus": ["first"] * 30, "row": list(range(30))} if "corpus" in columns else {}
        writer.write(pa.table({k: v for k, v in columns.items()}, schema=SCHEMA))
    files = []
    for variant in roles(shown):
        path = tmp_path / f"translations/{variant}/first.txt"
        write_text(path, "".join(f"{variant} {n}\n" for n in range(30)))
        files.append(str(path))
    found = front.examples(
        shown, {"test_set": [str(tmp_path / "first.parquet")], "translations": files}
    )
    assert len(found) == 10
    rows = dict(found[0].rows)
    assert (rows["source"], rows["reference"]) == ("source 1", "target 1")
    assert rows["teacher, beam-4"] == "teacher/beam-4/float32 1"
    assert [who for who, _ in found[0].rows][:3] == ["source", "reference", "teacher, beam-4"]
    assert len(rows) == len(found[0].rows) and rows["student, other"].startswith("other/unpruned")
