"""Quality rows of small models."""

import math

import numpy as np
import pytest

from weebill.evaluation.quality.generation_quality import (
    Measured,
    lead_quality,
    summary_quality,
    text_quality,
)
from weebill.generation.data import read_part
from weebill.generation.models import load_generator
from weebill.generation.perplexity import Surprise
from weebill.generation.settings import SearchSettings


def test_quality_of_summaries(made):
    model, data = made["bart"]
    measured = Measured("bart", "news", data, model, 1)
    references = [row["summary"] for row in read_part(data, "test")]
    rows = summary_quality(measured, references, SearchSettings(), 40, 100)
    assert [row.metric for row in rows] == ["ROUGE-1", "ROUGE-2", "ROUGE-L", "ROUGE-Lsum"]
    assert {(row.score, row.low, row.high) for row in rows} == {(1.0, 1.0, 1.0)}
    assert "beam:4" in rows[0].signature and "source:40" in rows[0].signature
    assert rows[0].examples == len(references)


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
    # Both measures use the same resamples of the same tokens.
    scale = tokens.sum() / 9000 / math.log(2)
    assert bits.score == pytest.approx(math.log(perplexity.score) * scale)
    assert bits.low == pytest.approx(math.log(perplexity.low) * scale, rel=1e-3)
