"""Scores of one corpus: sections of the experiment, overridden by the corpus' own keys."""

import pytest

from weebill.configuration.checking import check, missing_files
from weebill.experiment.scores import scores_of, section_of

PERCENT, BEST = {"percent": 5.0}, {"best": 100}


@pytest.fixture
def config(experiment, zoo):
    changes = {
        "corpora": {
            "tatoeba": {
                "cleaning": {
                    "rules": {"max_tokens": 80},
                    "near_duplicates": False,
                    "scores": {"reverse_model": {"cut": BEST}},
                }
            },
            "stories": {"importer": "tatoeba", "pairs": 10, "use": "monolingual"},
        },
        "cleaning": {
            "rules": {"max_length_ratio": 3},
            "scores": {"reverse_model": {"cut": PERCENT}, "language_model_source": {}},
        },
        "distillation": {"scores": {"reverse_model": {"weight_scale": 0}}},
        "scoring": {
            "bicleaner": {"model": "no/classifier"},
            "reverse_model": {"hugging_face": "no/folder"},
            "language_model": {"source_text": ["no/text.gz"]},
        },
    }
    return check(experiment(changes), "trial.yaml", zoo)


def test_a_corpus_overrides_single_keys(config):
    own, other = (section_of(config, name, "cleaning") for name in ("tatoeba", "stories"))
    defaults = config["cleaning"]["rules"]
    assert own["rules"] == {**defaults, "max_tokens": 80, "max_length_ratio": 3.0}
    assert other["rules"] == defaults and defaults["max_tokens"] == 150
    assert (own["near_duplicates"], other["near_duplicates"]) == (False, True)
    assert own["remove_test_overlap"] is True


def test_a_cut_is_replaced_as_a_whole(config):
    scores = scores_of(config, "tatoeba", "cleaning")
    assert list(scores) == ["language_model_source", "reverse_model"]  # the order of dropping
    assert scores["reverse_model"] == {"cut": BEST, "weight_scale": 0.1}
    assert scores["language_model_source"] == {"cut": {}}


def test_monolingual_text_has_target_scores_only_when_distilled(config):
    assert list(scores_of(config, "stories", "cleaning")) == ["language_model_source"]
    assert scores_of(config, "stories", "distillation") == {
        "reverse_model": {"cut": {}, "weight_scale": 0.0}
    }


def test_target_side_text_is_scored_where_it_has_the_sides(experiment, zoo):
    scores = {"language_model_source": {}, "language_model_target": {}, "reverse_model": {}}
    changes = {
        "corpora": {
            "german": {
                "importer": "tatoeba",
                "pairs": 10,
                "use": "monolingual-target",
                "back_translation": {"scores": {"reverse_model": {"cut": BEST}}},
            }
        },
        "reverse_teacher": {"architecture": "big"},  # it scores too
        "cleaning": {"scores": scores},
        "back_translation": {"scores": scores},
        "distillation": {"scores": scores},
    }
    config = check(experiment(changes), "trial.yaml", zoo)
    assert list(scores_of(config, "german", "cleaning")) == ["language_model_target"]
    assert list(scores_of(config, "german", "distillation")) == list(scores)
    assert scores_of(config, "german", "back_translation")["reverse_model"]["cut"] == BEST


def test_files_of_the_scoring_models_are_missed(config):
    found = [line.split(":")[0] for line in missing_files(config)]
    assert "scoring.language_model.source_text[0]" in found
    assert "scoring.bicleaner.model" in found
    assert "scoring.reverse_model.hugging_face" in found
