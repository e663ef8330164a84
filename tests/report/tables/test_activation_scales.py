"""The table of activation scales: errors by their definition, and scores compared with the right model's."""

import pytest

from tests.report.conftest import measurement, read
from weebill.evaluation.measurement import Variant
from weebill.quantization.calibration import ActivationError
from weebill.report.results import Results
from weebill.report.tables.activation_scales import activation_scales_table

QUANTIZATION = {
    "int8": {"activation_scale": "mean-of-maxima", "compare_activation_scales": True},
    "log4": {},
}
BLEU = {"float32": 30.0, "int8": 29.5, "int8-mean-of-scales": 28.25}


def error(name, formula, relative, clipped=0):
    return ActivationError(name, formula, 1000, clipped, 50.0, 50.0 * relative)


ERRORS = [
    error("encoder.0.a", "mean-of-maxima", 0.001),
    error("encoder.0.a", "mean-of-scales", 0.002),
    error("encoder.1.a", "mean-of-maxima", 0.003, clipped=4),
    error("encoder.1.a", "mean-of-scales", 0.004, clipped=30),
    error("output", "mean-of-maxima", 0.005),
    error("output", "mean-of-scales", 0.09, clipped=60),
]


@pytest.fixture
def rows():
    measurements = [
        measurement(Variant("small", "pushy", precision), "first", metric, score + shift)
        for precision, score in BLEU.items()
        for metric, shift in (("BLEU", 0.0), ("chrF", 20.0))
    ]
    # Students without a comparison of formulas are not shown.
    measurements += [
        measurement(Variant("small", *other), "first", "BLEU", 1.0)
        for other in (("unpruned", "float32"), ("pushy", "int8-finetuned"), ("pushy", "log4"))
    ]
    errors = [("small/pushy", ERRORS)]
    results = Results({"quantization": QUANTIZATION}, qualities=measurements, scale_errors=errors)
    table = activation_scales_table(results)
    assert [row["variant"] for row in read(table)] == [f"small/pushy/{name}" for name in BLEU]
    return {row["variant"]: row for row in read(table)}


def test_each_formula_has_its_errors(rows):
    ours = rows["small/pushy/int8"]
    assert ours["activation_scale"] == "mean-of-maxima"
    assert (ours["encoder_error"], ours["decoder_error"]) == ("0.200", "0.500")
    assert (ours["largest_error"], ours["largest_map"]) == ("0.500", "output")
    assert ours["clipped"] == "0.1333"  # 4 of 3,000
    other = rows["small/pushy/int8-mean-of-scales"]
    assert (other["encoder_error"], other["decoder_error"]) == ("0.300", "9.00")
    assert other["clipped"] == "3.0000"


def test_scores_stand_against_the_model_that_was_quantized(rows):
    """A pruned student is compared with its own float32 model, not with the unpruned one."""
    assert rows["small/pushy/float32"]["bleu_first"] == "30.00"
    assert rows["small/pushy/float32"]["encoder_error"] == ""
    assert rows["small/pushy/int8"]["bleu_first_delta"] == "-0.50"
    assert rows["small/pushy/int8-mean-of-scales"]["chrf_first"] == "48.25"
    assert rows["small/pushy/int8-mean-of-scales"]["chrf_first_delta"] == "-1.75"
