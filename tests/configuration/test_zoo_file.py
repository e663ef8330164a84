"""All errors of the zoo are reported at once."""

import pytest

from weebill.configuration.checking import check, estimate
from weebill.configuration.zoo_file import load_zoo, with_own
from weebill.errors import InputError


def test_zoo_errors(tmp_path):
    shape = "embedding: 8, feed_forward: 8, encoder_layers: 1, decoder_tied: true"
    path = tmp_path / "models.yaml"
    path.write_text(
        f"odd: {{{shape}, heads: 3, attention_width: 8, decoder_layers: 1, decoder: ssru}}\n"
        f"wrong: {{{shape}, heads: 0, attention_width: 8, decoder_layers: [1, x], decoder: lstm, dept: 1}}\n"
    )
    with pytest.raises(InputError) as caught:
        load_zoo(path)
    assert str(caught.value).replace(str(path), "zoo").splitlines() == [
        "zoo: wrong.dept: unknown key, expected one of paper, embedding, feed_forward, heads, "
        "attention_width, encoder_layers, decoder_layers, decoder_tied, decoder, vocabulary, note",
        "zoo: wrong.heads: found 0, expected at least 1",
        "zoo: wrong.decoder_layers[1]: found 'x', expected a whole number",
        "zoo: wrong.decoder: found 'lstm', expected one of ssru, attention",
        "zoo: odd: attention_width 8 is no multiple of heads 3",
    ]


def test_an_experiment_adds_and_replaces_architectures(experiment, zoo):
    own = {"own": zoo["small"], "big": {**zoo["big"], "embedding": 16}}
    changes = {"architectures": own, "students": ["small", "own"]}
    config = check(experiment(changes), "trial.yaml", zoo)
    whole = with_own(zoo, config)
    assert whole["own"] == zoo["small"] and whole["big"]["embedding"] == 16
    sizes = [
        estimate(check(experiment(one), "trial.yaml", zoo), zoo).disk["models and checkpoints"]
        for one in ({}, {"architectures": {"big": {**zoo["big"], "feed_forward": 64}}})
    ]
    assert sizes[0] < sizes[1]


def test_an_own_architecture_is_checked_like_those_of_the_zoo(faults, zoo):
    odd = {**zoo["small"], "embedding": 7, "attention_width": 10}
    assert faults({"architectures": {"own": odd}}, []) == [
        "architectures.own: attention_width 10 is no multiple of heads 4",
        "architectures.own: embedding 7 is odd; sinusoidal positions need an even width",
    ]
