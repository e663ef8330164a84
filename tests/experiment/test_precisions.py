"""Precisions follow from the grids of a configuration; the grids are those of the library."""

from weebill.configuration.checking import check
from weebill.configuration.schema import load_schema
from weebill.experiment import precisions
from weebill.quantization.calibration import FORMULAS
from weebill.quantization.grids import GRIDS, grid_named


def test_each_grid_makes_its_precisions(experiment, zoo):
    compared = {"activation_scale": "mean-of-scales", "compare_activation_scales": True}
    log4 = {"compare_biases": True}
    changes = {"quantization": {"int8": compared, "int8_rowwise": {"finetune": {}}, "log4": log4}}
    section = check(experiment(changes), "trial.yaml", zoo)["quantization"]
    made = {
        name: (one.grid, one.activation_scale, one.finetuned)
        for name, one in precisions.quantized(section).items()
    }
    assert made == {
        "int8": ("int8", "mean-of-scales", False),
        "int8-mean-of-maxima": ("int8", "mean-of-maxima", False),
        "int8-finetuned": ("int8", "mean-of-scales", True),
        "int8_rowwise": ("int8_rowwise", "mean-of-maxima", False),
        "int8_rowwise-finetuned": ("int8_rowwise", "mean-of-maxima", True),
        "log4": ("log4", None, False),
        "log4-biases": ("log4", None, False),
    }
    rounded = [name for name, one in precisions.quantized(section).items() if one.biases]
    assert rounded == ["log4-biases"]
    assert set(made) < set(precisions.PRECISIONS)


def test_the_library_has_these_grids_and_formulas():
    assert list(GRIDS) == list(precisions.GRIDS)
    assert [name for name in GRIDS if grid_named(name).integer] == list(precisions.INTEGER_GRIDS)
    assert set(FORMULAS) == set(precisions.ACTIVATION_SCALES)
    rules = load_schema("translation")["$defs"]["IntegerGrid"]["properties"]["activation_scale"]
    assert set(rules["enum"]) == set(FORMULAS)
    assert rules["default"] == precisions.ACTIVATION_SCALES[0]
