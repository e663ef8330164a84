"""Structures of published models, compared with the parameter counts in their papers or model cards."""

import pytest

from weebill.experiment.known_models import known_model

# In millions: Lewis et al. 2020, Radford et al. 2019, Conneau et al. 2020, Wang et al. 2020, COMETINHO's table 1.
PRINTED = {
    "facebook/bart-large-cnn": 406,
    "facebook/bart-base": 139,
    "openai-community/gpt2": 124,
    "FacebookAI/xlm-roberta-large": 560,
    "FacebookAI/xlm-roberta-base": 278,
    "microsoft/Multilingual-MiniLM-L12-H384": 118,
    "google-bert/bert-base-multilingual-cased": 179,
    "facebook/nllb-200-distilled-600M": 615,
    "facebook/m2m100_418M": 484,
}


@pytest.mark.parametrize(("name", "millions"), PRINTED.items())
def test_weights_are_the_printed_ones(name, millions):
    assert known_model(name).weights / 1e6 == pytest.approx(millions, rel=0.03)


def test_an_unknown_model_is_none():
    assert known_model("someone/own-model") is None
