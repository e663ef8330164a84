"""Rows of quality, time and size of small models."""

import math

import numpy as np
import pytest

from tests.generation.small import make, news, running_text
from weebill.errors import InputError
from weebill.evaluation.quality.generation_quality import (
    Measured,
    lead_quality,
    summary_quality,
    text_quality,
)
from weebill.evaluation.size.generation_size import generation_size
from weebill.evaluation.timing import generation_speed as speed
from weebill.evaluation.timing.generation_speed import measure_generation
from weebill.generation.data import read_part
from weebill.generation.generating import SearchSettings, summarize
from weebill.generation.models import load_generator
from weebill.generation.perplexity import Surprise


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    data = {"bart": news(folder), "gpt2": running_text(folder)}
    return {name: (make(folder, name, text), text) for name, text in data.items()}


def test_summaries_do_not_depend_on_their_neighbours(made):
    model, data = made["bart"]
    generator = load_generator(model)
    articles = [row["article"] for row in read_part(data, "train")][:9]
    for beam in (1, 3):
        alone, together = (
            summarize(generator, articles, SearchSettings(beam, 12, batch_size=size), 40)
            for size in (1, 4)
        )
        assert alone == together


def test_a_models_own_settings_of_search_do_not_count(made):
    model, data = made["bart"]
    plain, other = load_generator(model), load_generator(model)
    other.model.generation_config.update(
        num_beams=2,
        num_return_sequences=2,
        min_length=20,
        repetition_penalty=3.0,
        no_repeat_ngram_size=1,
        encoder_no_repeat_ngram_size=1,
        encoder_repetition_penalty=3.0,
        length_penalty=9.0,
    )
    articles = [row["article"] for row in read_part(data, "train")][:5]
    one, two = (summarize(each, articles, SearchSettings(3, 12), 40) for each in (plain, other))
    assert one == two


def test_summaries_longer_than_a_models_positions_are_refused(made):
    generator = load_generator(made["bart"][0])
    with pytest.raises(InputError, match=r"search.max_tokens: 41 tokens, but .* has 40 positions"):
        summarize(generator, ["a"], SearchSettings(1, 41), 40)


def test_quality_of_summaries(made):
    model, data = made["bart"]
    measured = Measured("bart", "news", data, model, 1)
    references = [row["summary"] for row in read_part(data, "test")]
    rows = summary_quality(measured, references, SearchSettings(), 40, 100)
    assert [row.metric for row in rows] == ["ROUGE-1", "ROUGE-2", "ROUGE-L", "ROUGE-Lsum"]
    assert {(row.score, row.low, row.high) for row in rows} == {(1.0, 1.0, 1.0)}
    assert "beam:4" in rows[0].signature and "source:40" in rows[0].signature
    assert rows[0].to_dict()["examples"] == len(references)


def test_what_articles_begin_with_is_scored_as_a_summary(made):
    model, data = made["bart"]
    measured = Measured("lead", "news", data, model, 1)
    tokenizer = load_generator(model).tokenizer
    whole, short = (lead_quality(measured, tokenizer, tokens, 100) for tokens in (1000, 3))
    articles = [row["article"] for row in read_part(data, "test")]
    as_given = summary_quality(measured, articles, SearchSettings(), 40, 100)
    assert [row.score for row in whole] == [row.score for row in as_given]
    assert short[0].score != whole[0].score and "lead:3|" in short[0].signature


def test_quality_of_running_text(made):
    model, data = made["gpt2"]
    measured = Measured("gpt2", "running", data, model, 1)
    rng = np.random.default_rng(1)
    tokens = rng.integers(5, 17, size=400)
    found = Surprise(tokens * rng.normal(2, 0.3, size=400), tokens, size=9000)
    perplexity, bits = text_quality(measured, found, 16, 8, 500)
    assert perplexity.tokens == tokens.sum() and perplexity.examples == 400
    assert perplexity.score == pytest.approx(math.exp(found.totals.sum() / tokens.sum()))
    assert perplexity.low < perplexity.score < perplexity.high
    # the same shares of the same tokens
    scale = tokens.sum() / 9000 / math.log(2)
    assert bits.score == pytest.approx(math.log(perplexity.score) * scale)
    assert bits.low == pytest.approx(math.log(perplexity.low) * scale, rel=1e-3)


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


def test_size_counts_every_number_once(made):
    model, _ = made["gpt2"]
    size = generation_size("gpt2", model)
    assert size.numbers == {"F32": load_generator(model).model.num_parameters()}
    assert size.parameter_bytes == (model / "model.safetensors").stat().st_size
    assert size.layer_shapes["heads"]["decoder.0.self_attention"] == 4
