"""Features computed by hand; the regression's optimum; folds that do not use their own labels."""

import math

import numpy as np
import pytest

from weebill.corpus.labelled import roc_auc
from weebill.corpus.scores.combination import (
    PENALTY,
    Combination,
    combined_scorer,
    cross_validated,
    features_of,
    fit,
)
from weebill.errors import InputError
from weebill.files import write_json


def test_features_by_hand():
    found = features_of(
        {"lexical_translation": np.array([-1.0, -2.0])},
        ["He has 12 cats.", "Yes"],
        ["Er hat 12 von 30 Katzen.", 'Er sagte: "Ja."'],
        ("en", "de"),
    )
    assert found["lexical_translation"].tolist() == [-1.0, -2.0]
    expected = [math.log(29 / 20), math.log(20 / 8)]
    assert found["length_ratio"].tolist() == pytest.approx(expected)
    assert found["length"].tolist() == pytest.approx([math.log(11), math.log(5)])
    # Numbers {12} and {12, 30}: (2 · 1 + 1) / (1 + 2 + 1); without numbers: 1.
    assert found["numbers"].tolist() == pytest.approx([3 / 4, 1.0])
    assert found["letters"].tolist() == pytest.approx([(9 + 14) / (12 + 19), (3 + 9) / (3 + 13)])
    assert found["sentence_ends"].tolist() == [2.0, 1.0]
    assert found["one_sentence_end"].tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    "line",
    [
        "彼は「はい。」",
        "وہ یہاں ہے۔",
        "هل هو هنا؟",
        "እሱ እዚህ ነው።",
        "Նա այստեղ է։",
        "သူဒီမှာရှိတယ်။",
        "គាត់នៅទីនេះ។",
    ],
)
def test_sentences_end_in_any_script(line):
    found = features_of({}, ["He is here."], [line], ("en", "de"))
    assert (found["sentence_ends"], found["one_sentence_end"]) == (2, 0)


def examples(rows=400, seed=2):
    """Return features and labels: two features depend on the label, one does not, and lengths are equal."""
    draw = np.random.default_rng(seed)
    good = draw.random(rows) < 0.3
    return {
        "one": good + draw.normal(size=rows),
        "two": 50 - 20 * good + 20 * draw.normal(size=rows),
        "noise": draw.normal(size=rows),
        "length_ratio": 0.1 + 0.3 * draw.normal(size=rows) * (2 - good),
    }, good


def penalised_loss(combination, features, good):
    """Return the regression's loss, computed with the weights of unscaled features."""
    odds = combination(features)
    free = 0.0
    for name, weight in combination.weights.items():
        values = features[name]
        if name == "length_ratio":
            values = abs(values - combination.length_ratio)
        free += (weight * values.std()) ** 2
    return np.log1p(np.exp(np.where(good, -odds, odds))).sum() + PENALTY / 2 * free


def test_the_fit_is_the_optimum():
    """No change of a weight lowers the loss."""
    features, good = examples()
    found = fit(features, good)
    assert found.length_ratio == np.median(features["length_ratio"][good])
    best = penalised_loss(found, features, good)
    for name, weight in found.weights.items():
        for step in (-0.02, 0.02):
            moved = {**found.weights, name: weight + step / features[name].std()}
            other = Combination(moved, found.intercept, found.length_ratio)
            assert penalised_loss(other, features, good) > best
    for step in (-0.02, 0.02):
        other = Combination(found.weights, found.intercept + step, found.length_ratio)
        assert penalised_loss(other, features, good) > best


def test_a_feature_that_never_changes_does_no_harm():
    features, good = examples()
    found = fit({**features, "constant": np.full(len(good), 3.0)}, good)
    assert np.isfinite(list(found.weights.values())).all()
    assert found.weights["constant"] == pytest.approx(0.0, abs=1e-6)


def test_folds_do_not_see_their_labels():
    """With random features, a fit predicts its own rows, but cross-validation is at chance level."""
    draw = np.random.default_rng(1)
    good = draw.random(300) < 0.3
    features = {f"f{number}": draw.normal(size=300) for number in range(40)}
    features["length_ratio"] = draw.normal(size=300)
    assert roc_auc(fit(features, good)(features), good) > 0.7
    assert 0.4 < roc_auc(cross_validated(features, good, seed=1), good) < 0.6
    told, good = examples()
    assert roc_auc(cross_validated(told, good, seed=1), good) > 0.8


def test_saved_and_read(tmp_path):
    texts = (["He has 12 cats.", "Yes"], ["Er hat 12 Katzen.", "Nein, nie."])
    scores = {"lexical_translation": np.array([-1.0, -2.0])}
    features = features_of(scores, *texts, ("en", "de"))
    found = fit(features, np.array([True, False]))
    found.save(tmp_path / "c.json")
    assert Combination.load(tmp_path / "c.json") == found
    scorer = combined_scorer(tmp_path / "c.json", ("en", "de"))
    assert scorer(*texts, **scores) == pytest.approx(found(features))
    write_json(tmp_path / "bad.json", {"weight": 1})
    with pytest.raises(InputError, match="not a combination"):
        Combination.load(tmp_path / "bad.json")
