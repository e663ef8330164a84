"""Effects of TEXTGEN's claims, against the invented experiment in which every step halves or divides."""

import pytest

from tests.report.generation_results import WHOLE, generation_results
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
    assert time.value == pytest.approx(100 * (1 - 1 / number))
    assert (time.low, time.high) == (0.0, 0.0)  # the rounds are equal in the invented results


def test_perplexity_is_a_ratio():
    results = generation_results()
    one = only(MEASURES["gpt2-distilled-perplexity"](results))
    whole, part = (variants(results.config).index(name) + 1 for name in ("gpt2/fine-tuned", one.of))
    assert one.value == pytest.approx(part / whole)
