"""Lookups by variant, and the choice of the teacher."""

from dataclasses import replace

from weebill.evaluation.measurement import Variant
from weebill.report.lookups.translation import teacher


def test_the_teacher_is_never_what_minimum_risk_chose(results):
    """The teacher is found even if its search is greedy, with a beam of 1."""
    assert teacher(results) == Variant.parse("teacher/beam-4/float32")
    greedy = next(size for size in results.sizes if size.variant == "teacher/greedy/float32")
    chosen = replace(greedy, variant="teacher/mbr-8/float32", recipe="mbr-8")
    assert str(teacher(replace(results, sizes=[greedy, chosen]))) == greedy.variant
