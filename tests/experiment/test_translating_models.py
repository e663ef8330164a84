"""Hugging Face models of an experiment must have the languages that the experiment names."""

from weebill.configuration.checking import check
from weebill.experiment.translating_models import hub_models, hugging_face_models


def test_languages_of_hugging_face_models(experiment, zoo):
    changes = {
        "teacher": {"hugging_face": "a/b", "revision": 40 * "a", "language_codes": {"target": "x"}},
        "scoring": {"reverse_model": {"hugging_face": "a/b", "revision": 40 * "a"}},
    }
    config = check(experiment(changes, ["teacher.architecture"]), "trial.yaml", zoo)
    teacher, scorer = hugging_face_models(config)
    assert (teacher.languages, scorer.languages) == (("en", "x"), ("de", "en"))
    assert hub_models(config) == {"a--b@" + 40 * "a": ("a/b", 40 * "a")}
