"""The metrics of an experiment follow from its configuration."""

from tests.configuration.changes import with_key
from tests.small_metric_experiment import SMALL
from weebill.configuration.checking import check
from weebill.experiment.metrics import (
    curve,
    distilled_metrics,
    our_metrics,
    pruned_metrics,
    shown_metrics,
)


def test_metrics_of_an_experiment():
    config = check(SMALL, "trial.yaml")
    assert our_metrics(config) == ["reference", "ensemble", "pruned", "distilled"]
    others = ["BLEU", "chrF", "BERTScore", "BLEURT"]
    assert shown_metrics(config, "news") == [*others, *our_metrics(config)]
    # Neurons of the recipe, as in figure 6b.
    shares = {"method": "one-shot", "criterion": "gradient", "ranking": "layer", "blocks": "*"}
    less = [{**shares, "neurons": 0.25, "heads": 0.5}]
    assert curve(config, "heads") == {"without-0.5-heads": less}
    assert pruned_metrics(config) == {
        "without-1-top-layers": [{"method": "depth", "layers": 1}],
        "without-2-top-layers": [{"method": "depth", "layers": 2}],
        "without-0.5-heads": less,
        "pruned": [
            {"method": "depth", "layers": 1, "stack": "encoder"},
            {**shares, "neurons": 0.25, "heads": 0.0},
        ],
    }
    assert shown_metrics(config, "development") == ["reference", *pruned_metrics(config)]


def test_an_official_checkpoint_is_no_ensemble():
    config = check(
        with_key(SMALL, ("reference",), {"checkpoint": "Unbabel/wmt20-comet-da"}), "trial.yaml"
    )
    assert our_metrics(config) == ["reference", "pruned", "distilled"]


def test_further_recipes_make_metrics_of_their_names():
    narrow = [{"method": "one-shot", "heads": 0.5}]
    config = check(with_key(SMALL, ("pruning", "recipes"), {"narrow": narrow}), "trial.yaml")
    assert our_metrics(config) == ["reference", "ensemble", "pruned", "narrow", "distilled"]
    assert pruned_metrics(config)["narrow"][0]["heads"] == 0.5
    assert "narrow" in shown_metrics(config, "development")
    alone = check(with_key(config, ("pruning", "recipe"), None), "trial.yaml")
    assert our_metrics(alone) == ["reference", "ensemble", "narrow", "distilled"]


def test_each_encoder_to_begin_with_makes_a_distilled_metric():
    config = check(with_key(SMALL, ("distillation", "other_encoders"), ["xlmr"]), "trial.yaml")
    assert distilled_metrics(config) == {"distilled": "small", "distilled-xlmr": "xlmr"}
    assert our_metrics(config)[-2:] == ["distilled", "distilled-xlmr"]
