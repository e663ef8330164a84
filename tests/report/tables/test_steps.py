"""Table of the cost of each step, compared with the invented experiment that it shows."""

import dataclasses

from tests.report.conftest import VARIANTS, comparison, read
from weebill.evaluation.measurement import Variant
from weebill.report.tables.steps import steps_table

TEACHER, STUDENT = "teacher/beam-4/float32", "small/unpruned/float32"


def test_a_student_is_compared_with_its_teacher_and_its_variants_with_it(results):
    pairs = [
        (STUDENT, TEACHER),
        ("small/unpruned/int8", STUDENT),
        ("small/pushy-i6/float32", STUDENT),
    ]
    pairs.append(("other/unpruned/float32", TEACHER))
    steps = [
        comparison(*map(Variant.parse, pair), *(VARIANTS[one][0] for one in pair)) for pair in pairs
    ]
    rows = read(steps_table(dataclasses.replace(results, steps=steps)))
    assert [(row["variant"], row["baseline"]) for row in rows] == [(TEACHER, ""), *pairs]
    teacher, student, int8, *_ = rows
    assert (teacher["bleu"], teacher["difference"], teacher["size_mib"]) == ("40.00", "", "120")
    assert (student["bleu"], student["difference"], student["p"]) == ("39.00", "-1.00", "0.010")
    assert [int8[f"difference{end}"] for end in ("", "_low", "_high")] == [
        "-0.75",
        "-1.25",
        "-0.25",
    ]
    assert [row["size_mib_delta"] for row in (student, int8)] == ["x0.50", "x0.25"]
