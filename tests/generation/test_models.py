"""Summaries by small models depend on the article and the search, and on nothing else."""

import pytest

from weebill.errors import InputError
from weebill.generation.data import read_part
from weebill.generation.models import load_generator, summarize
from weebill.generation.settings import SearchSettings


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
