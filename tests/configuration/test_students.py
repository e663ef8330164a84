"""Options of the students' training, and what they cannot be combined with."""

from dataclasses import asdict

import pytest

from goldcrest.configuration import ConfigurationError, check, estimate
from goldcrest.corpus.augmentation import Augmentation


def faults(config, zoo):
    with pytest.raises(ConfigurationError) as error:
        check(config, "trial.yaml", zoo)
    return str(error.value).splitlines()


def test_augmentation_is_off_by_default(experiment, zoo):
    assert "augmentation" not in check(experiment(), "trial.yaml", zoo)["distillation"]
    config = experiment({"distillation": {"augmentation": {"typos": 0.1}}})
    checked = check(config, "trial.yaml", zoo)["distillation"]["augmentation"]
    assert checked == {**asdict(Augmentation()), "typos": 0.1}


def test_augmentation_adds_something_that_the_languages_have(experiment, zoo):
    config = experiment({"distillation": {"augmentation": {"max_merged_words": 50}}})
    assert faults(config, zoo) == [
        "trial.yaml: distillation.augmentation: found no share above 0, expected one of "
        "upper_case, title_case, typos, merged, placeholders"
    ]
    news = {"importer": "files", "source": "news.en", "target": "news.ja"}
    config = experiment(
        {
            "languages": {"target": "ja"},
            "corpora": {"grammar": {**news, "source": "a.en", "target": "a.ja"}},
            "validation": {**news, "source": "b.en", "target": "b.ja"},
            "test_sets": {"news": news},
            "distillation": {"augmentation": {"upper_case": 0.1, "typos": 0.1}},
        },
        ["corpora.grammar.pairs", "validation.pairs"],
    )
    config["corpora"]["grammar"].pop("pairs", None)
    assert faults(config, zoo) == [
        "trial.yaml: distillation.augmentation.upper_case: found 0.1, expected 0, as the target "
        "language 'ja' has no case"
    ]


def test_added_rows_take_disk(experiment, zoo):
    plain = estimate(check(experiment(), "trial.yaml", zoo), zoo)
    shares = {"typos": 0.5, "merged": 0.25}
    config = experiment({"distillation": {"augmentation": shares}})
    more = estimate(check(config, "trial.yaml", zoo), zoo)
    assert more.disk["text in trainings"] == pytest.approx(2 * plain.disk["text in trainings"])
    assert more.disk["distilled text"] > plain.disk["distilled text"]
