"""Estimates of generation experiments besides their trainings: by hand, and beside the published run."""

import pytest

from tests.configuration.changes import with_key
from tests.configuration.test_estimates import REPOSITORY, of_paper, run_times
from weebill.configuration.checking import check, estimate
from weebill.configuration.generation import weights_of
from weebill.yaml_files import read_yaml

SMALL = read_yaml(REPOSITORY / "config/generation-small.yaml")
GPT2 = [{"model": "gpt2", "steps": ["fine-tuned", "int8"]}]
TRAINING, SEARCH = 5e10, 6e10  # operations a second of a thread


def changed(*changes):
    config = with_key(SMALL, ["pipelines"], GPT2)
    for path, value in changes:
        config = with_key(config, path.split("."), value)
    return check(config, "x.yaml")


@pytest.fixture
def text(tmp_path):
    """Return changes to a text of 45,000 bytes for training, and 9,000 for the test."""
    for name, size in (("train", 45_000), ("test", 9_000)):
        (tmp_path / name).write_bytes(bytes(size))
    return [
        (f"data.wikitext.{name}", [{"path": str(tmp_path / name)}]) for name in ("train", "test")
    ]


def test_quality_and_timing_of_each_variant_by_hand(text):
    """Two variants compute the perplexity of 2,000 tokens in windows of 256 that move by 128, and are timed."""
    config = changed(*text)
    found, weights = estimate(config), weights_of(config["models"]["gpt2"])
    assert 3600 * found.hours["quality of variants"] == pytest.approx(
        2 * 2 * weights * 2_000 * 256 / 128 / TRAINING
    )
    # An example of 128 given and 64 new tokens, ten in each of five rounds and one before.
    example = 2 * weights * (128 + 64) / SEARCH + 64 * 0.0015
    assert 3600 * found.other_hours["measuring"] == pytest.approx(2 * (3 + 51 * example))


def test_encoding_counts_each_training_once(text):
    """GPT-2 is pre-trained on both texts here, and fine-tuned on its own; int8 trains nothing."""
    alone = estimate(changed(*text, ("models.gpt2.text", ["wikitext"])))
    assert 3600 * alone.other_hours["encoding"] == pytest.approx(2 * 45_000 / 1.2e6)


def test_epochs_of_text_that_is_here_have_a_time(text):
    """10,000 tokens, three times forward and backward, which takes six operations for each weight."""
    epochs = {"epochs": 3, "batch_size": 16}
    config = changed(*text, ("models.gpt2.text", None), ("steps.fine-tuned.training", epochs))
    updates = changed(*text, ("models.gpt2.text", None))
    operations = 6 * 3 * 10_000 * weights_of(config["models"]["gpt2"])
    training = SMALL["steps"]["fine-tuned"]["training"]
    tokens = training["updates"] * training["batch_size"] * 256
    more = 6 * tokens * weights_of(config["models"]["gpt2"]) - operations
    found = estimate(updates).hours["gpt2"] - estimate(config).hours["gpt2"]
    assert 3600 * found == pytest.approx(more / TRAINING)


def test_text_of_unknown_size_is_named_once():
    found = of_paper("textgen.yaml")
    [line] = found.unknown
    assert line.startswith("data.wikitext: its size is not known; encoding it, epochs of it")
    assert set(found.hours) == {"bart-large-cnn", "quality of variants"}


def test_the_published_run_of_generation_small():
    """Its trainings took twice as long as the rates of this estimate tell, and so did its measurements."""
    minutes, published_jobs = run_times("generation-small")
    found = of_paper("generation-small.yaml")
    quality = minutes["measure_perplexity"] + minutes["summarize_test_set"]
    trainings = minutes["step"] + minutes["make_generator"]
    share = found.hours["quality of variants"] / (found.hours["bart"] + found.hours["gpt2"])
    assert 0.5 < share / (quality / trainings) < 2
    timed = 60 * found.other_hours["measuring"]
    assert 0.5 < timed / minutes["measure_generation_speed"] < 2
    [jobs] = [int(name.split()[2]) for name in found.other_hours if name.startswith("starts")]
    assert jobs == pytest.approx(published_jobs, rel=0.1)
