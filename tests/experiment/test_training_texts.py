"""Corpora that make up a student's text."""

import pytest

from weebill.configuration.checking import check, estimate
from weebill.experiment.student_names import text_of, with_students
from weebill.experiment.training_texts import corpora_of, other_texts, training_texts
from weebill.experiment.variants import expand_variants

PAIRS = {"importer": "tatoeba", "pairs": 1000}
TEXTS = {"all": ["parallel", "backward", "backward-forward"], "parallel": ["parallel"]}


@pytest.fixture
def changes():
    return {
        "corpora": {"german": {**PAIRS, "use": "monolingual-target"}},
        "reverse_teacher": {"architecture": "big"},
        "teacher": {"back_translated": True},
        "distillation": {"training_texts": TEXTS},
        "students": ["small", "thin", "small@parallel"],
        "variants": ["small@*/pushy/float32"],
    }


def test_without_texts_students_learn_everything_there_is(experiment, zoo):
    english = {"corpora": {"stories": {**PAIRS, "use": "monolingual"}}}
    config = check(experiment(english), "trial.yaml", zoo)
    assert training_texts(config) == {"everything": ["parallel", "forward"]}
    assert other_texts(config) == {}


def test_texts_and_their_students(experiment, zoo, changes):
    config = check(experiment(changes), "trial.yaml", zoo)
    assert training_texts(config) == TEXTS
    assert corpora_of(config, "backward") == corpora_of(config, "backward-forward") == ["german"]
    assert corpora_of(config, "parallel") == ["tatoeba"]
    assert corpora_of(config, "forward") == []
    assert [text_of(name) for name in config["students"]] == [None, None, "parallel"]
    assert other_texts(config) == {"small": ["small", "small@parallel"]}
    assert expand_variants(config)[-2:] == [
        ("small@parallel", "unpruned", "float32"),
        ("small@parallel", "pushy", "float32"),
    ]


def test_another_text_changes_no_shape(zoo, changes):
    zoo = {"small": {**zoo["small"], "paper": "wmt21"}}
    more = with_students(zoo, ["small", "small@parallel", "tiny@parallel"])
    assert list(more) == ["small", "small@parallel"]
    assert more["small@parallel"] == {k: v for k, v in zoo["small"].items() if k != "paper"}


def test_translations_of_target_side_text_cost_disk_and_time(experiment, zoo, changes):
    """Estimates are compared for a corpus translated backward and forward again, and forward only."""
    changes["teacher"]["back_translated"] = False
    training = {"updates": 7000, "warmup": 700}
    changes["reverse_teacher"] = {"architecture": "big", "training": training}
    changes["teacher"]["training"] = training
    changes["distillation"], changes["students"] = {}, ["small", "thin"]
    changes["variants"] = ["*/unpruned/*"]
    both = estimate(check(experiment(changes), "trial.yaml", zoo), zoo)
    changes["corpora"]["german"]["use"] = "monolingual"
    del changes["reverse_teacher"]
    forward = estimate(check(experiment(changes), "trial.yaml", zoo), zoo)
    german, tatoeba = 1000 * 30, 100 * 30 * 8 / 4  # bytes; 8 hypotheses cost as 4
    ratio = both.hours["translation"] / forward.hours["translation"]
    assert 1 < ratio < (2 * german + tatoeba) / (german + tatoeba) + 0.01
    assert both.hours["reverse teachers"] == both.hours["teachers"]
    assert both.disk["distilled text"] > 1.8 * forward.disk["distilled text"]


def test_a_teacher_of_back_translated_text_waits_for_it(experiment, zoo, changes):
    changes["students"], changes["variants"] = ["small"], ["*/unpruned/float32"]
    waits = estimate(check(experiment(changes), "trial.yaml", zoo), zoo)
    changes["teacher"]["back_translated"] = False
    at_once = estimate(check(experiment(changes), "trial.yaml", zoo), zoo)
    each = waits.hours["teachers"]
    assert waits.chain - at_once.chain == pytest.approx(each, rel=0.01)
