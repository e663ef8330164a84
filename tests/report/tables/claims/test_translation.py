"""Effects of WNGT20's and WMT21's claims, computed from an invented experiment."""

import dataclasses

import pytest

from tests.report.conftest import VARIANTS, comparison, gpu_speed
from weebill.evaluation.measurement import Variant
from weebill.report.tables.claims.translation import MEASURES

STUDENT = "small/unpruned/float32"


@pytest.fixture
def measured(results):
    """Return the invented results; variants are compared with their student, students with the teacher."""
    pairs = [(name, "small/unpruned/float32") for name in VARIANTS if name.startswith("small/")]
    pairs += [("small/unpruned/int8-finetuned", "small/unpruned/int8")]
    pairs += [(name, "teacher/beam-4/float32") for name in (STUDENT, "other/unpruned/float32")]
    steps = [
        comparison(*map(Variant.parse, pair), *(VARIANTS[one][0] for one in pair))
        for pair in pairs
        if pair[0] != pair[1]
    ]
    return dataclasses.replace(results, steps=steps)


def only(effects):
    (one,) = effects
    return one


def test_heads_are_judged_where_three_quarters_of_them_are_gone(measured):
    one = only(MEASURES["heads-bleu"](measured))
    assert (one.of, one.value) == ("small/pushy-i6/float32", -0.5)
    assert one.low < one.value < one.high
    speed = only(MEASURES["heads-speed"](measured))
    assert speed.value == pytest.approx(2400 / 2000)
    assert (speed.low, speed.high) == pytest.approx((1.2, 1.2))


def test_quantized_models_are_compared_with_their_own_student(measured):
    assert only(MEASURES["int8-speed"](measured)).value == pytest.approx(1.5)
    assert only(MEASURES["int8-finetuning"](measured)).value == pytest.approx(0.625)
    assert only(MEASURES["log4-bleu"](measured)).value == -1.0
    assert MEASURES["log4-size"](measured) == []  # log4 was not measured


def test_rounded_biases_are_compared_with_rounded_weights_alone(measured):
    base, log4, biases = (
        Variant("small", "unpruned", one) for one in ("float32", "log4", "log4-biases")
    )
    steps = [comparison(log4, base, 28.0, 30.0), comparison(biases, log4, 27.25, 28.0)]
    size = dataclasses.replace(measured.size(base), variant=str(biases))
    found = dataclasses.replace(measured, sizes=[*measured.sizes, size], steps=steps)
    one = only(MEASURES["log4-biases"](found))
    assert (one.of, one.value) == (f"{biases}, {log4}", -0.75)


def test_the_smallest_student_is_compared_with_the_largest(measured):
    assert only(MEASURES["smaller-speed"](measured)).value == pytest.approx(2.0)
    assert only(MEASURES["smaller-bleu"](measured)).value == pytest.approx(-9.0)


def test_students_of_one_size_are_not_larger_and_smaller(measured):
    """`small@parallel` is `small`, trained on other text."""
    text = "small@parallel/unpruned/float32"
    rows = {name: [*getattr(measured, name)] for name in ("sizes", "speeds")}
    for found in rows.values():
        found += [dataclasses.replace(one, variant=text) for one in found if one.variant == STUDENT]
    one = only(MEASURES["smaller-speed"](dataclasses.replace(measured, **rows)))
    assert (one.of, one.value) == ("other/unpruned/float32", pytest.approx(2.0))


def test_nothing_is_invented_for_what_was_not_run(results):
    bare = dataclasses.replace(results, steps=(), comparisons=(), seeds=(), speeds=(), sizes=())
    assert not [name for name, measure in MEASURES.items() if measure(bare)]


def test_group_lasso_is_compared_with_its_shape_from_scratch(results):
    lasso = {"method": "group-lasso", "groups": "head"}
    scratch = {"method": "from-scratch", "like": "lasso"}
    config = {**results.config, "pruning": {"lasso": lasso, "scratch": scratch}}
    pair = ("small/lasso/float32", "small/scratch/float32")
    sizes = [
        dataclasses.replace(results.sizes[2], variant=name, recipe=name.split("/")[1])
        for name in pair
    ]
    comparisons = [comparison(*map(Variant.parse, pair), 39.0, 38.5)]
    found = dataclasses.replace(
        results, config=config, comparisons=comparisons, sizes=[*results.sizes, *sizes]
    )
    assert only(MEASURES["lasso-scratch"](found)).value == 0.5
    assert only(MEASURES["head-lasso-heads"](found)).value == 0.0


def test_numbers_of_a_gpu_are_compared_in_one_model(measured):
    """Pruned models, and models with decoded weights, make no pairs with the unpruned student."""
    pruned, decoded = "small/pushy-i6/float32", "small/unpruned/log4"
    speeds = [
        gpu_speed(STUDENT, "float32", False, 32, 1000.0),
        gpu_speed(STUDENT, "float16", False, 32, 1250.0),
        gpu_speed(STUDENT, "float16", True, 32, 1200.0),
        gpu_speed(pruned, "float32", False, 32, 2000.0),
        gpu_speed(pruned, "float16", False, 32, 2200.0),
        gpu_speed(decoded, "float32", False, 32, 900.0),
        gpu_speed(decoded, "float16", False, 32, 990.0),
        gpu_speed("small/unpruned/int8", "int8", False, 32, 1000.0),
    ]
    found = dataclasses.replace(measured, gpu_speeds=speeds)
    halves = {one.of.partition(",")[0]: one.value for one in MEASURES["float16-speed"](found)}
    assert halves == pytest.approx({STUDENT: 1.25, pruned: 1.1, decoded: 1.1})
    assert only(MEASURES["gpu-int8-speed"](found)).value == pytest.approx(0.8)
    assert only(MEASURES["gpu-shortlist-speed"](found)).value == pytest.approx(0.96)
