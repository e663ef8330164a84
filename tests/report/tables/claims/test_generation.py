"""Effects of TEXTGEN's claims, computed for the invented experiment with simple ratios of steps."""

import pytest

from tests.report.generation_results import WHOLE, generation_results, without_controls
from weebill.experiment.pipelines import variants
from weebill.report.tables.claims.generation import MEASURES


def only(effects):
    (one,) = effects
    return one


def test_the_pipeline_is_compared_with_the_fine_tuned_model():
    results = generation_results()
    number = variants(results.config).index(WHOLE) + 1
    rouge, size, time = (
        only(MEASURES[f"bart-pipeline-{name}"](results)) for name in ("rouge", "size", "time")
    )
    assert rouge.of == size.of == WHOLE
    assert rouge.value == pytest.approx(1 / number)
    assert size.value == pytest.approx(100 * (1 - 1 / number), abs=0.01)
    # The paper computes in float32, as the model before its conversion to 8 bits does.
    before = variants(results.config).index(time.of) + 1
    assert time.of == WHOLE.rpartition("/")[0]
    assert time.value == pytest.approx(100 * (1 - 1 / before))
    assert (time.low, time.high) == (0.0, 0.0)  # invented results have equal rounds


def number(results, variant):
    """Return the number of a variant; the invented perplexity rises with it, and ROUGE falls."""
    return variants(results.config).index(variant) + 1


def test_perplexity_is_a_ratio():
    results = without_controls(generation_results())
    one = only(MEASURES["gpt2-distilled-perplexity"](results))
    whole, part = (number(results, name) for name in ("gpt2/fine-tuned", one.of))
    assert one.value == pytest.approx(part / whole)


def test_quality_is_compared_with_the_first_model_and_with_as_long_a_training():
    results = generation_results()
    for model, name in (("bart", "pruned"), ("gpt2", "pruned-shortly")):
        pruned, control = (f"{model}/fine-tuned/{one}" for one in (name, f"as-long-as-{name}"))
        numbers = number(results, pruned), number(results, control)
        rouge = model == "bart"
        measure = MEASURES[f"{model}-pruned-{'rouge' if rouge else 'perplexity'}"]
        papers_way, one = measure(results)
        assert papers_way.of == pruned
        assert one.of == f"{pruned} against its control {control}"
        expected = numbers[1] / numbers[0] if rouge else numbers[0] / numbers[1]
        assert one.value == pytest.approx(expected)
        assert only(MEASURES[f"{model}-pruned-size"](results)).of == pruned
        alone = only(measure(without_controls(results)))
        assert alone == papers_way and alone.value != one.value
