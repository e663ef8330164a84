"""Time and memory of small models that generate."""

import numpy as np
import pytest

from weebill.errors import InputError
from weebill.evaluation.timing import generation_speed as speed
from weebill.evaluation.timing.generation_speed import measure_generation

pytestmark = pytest.mark.usefixtures("forked_workers")


def test_time_and_memory_of_variants(made):
    for name in ("bart", "gpt2"):
        model, data = made[name]
        one, other = measure_generation(
            {"one": model, "other": model}, data, examples=2, given=16, new_tokens=6, rounds=2
        )
        assert (one.variant, other.variant) == ("one", "other")
        assert len(one.seconds) == 2 and one.examples == 2 and 0 < one.given_tokens <= 16
        assert one.seconds_per_example == pytest.approx(np.median(one.seconds) / 2)
        assert one.milliseconds_per_token == pytest.approx(1000 * one.seconds_per_example / 6)
        assert one.peak_mib >= one.idle_mib > 0


def test_only_the_text_that_is_timed_goes_to_the_worker():
    rows = [{"text": "word " * 10_000}, {"text": "more"}]
    assert sum(map(len, speed._texts(rows, examples=2, given=5))) == 2 * 5 * speed.CHARACTERS
    assert speed._texts([{"text": "a"}, {"text": "b"}], examples=2, given=5) == ["a", "b"]
    assert speed._texts([{"article": "a"}, {"article": "b"}], examples=1, given=5) == ["a"]


def test_too_long_a_text_to_time_is_refused(made):
    model, data = made["bart"]
    with pytest.raises(InputError, match=r"speed of one: 16 tokens given and 60 new ones"):
        measure_generation({"one": model}, data, examples=2, given=16, new_tokens=60, rounds=1)
    model, data = made["gpt2"]
    with pytest.raises(InputError, match=r"speed of one: 36 tokens given and 6 new ones"):
        measure_generation({"one": model}, data, examples=2, given=36, new_tokens=6, rounds=1)
