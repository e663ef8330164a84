"""The metrics that an experiment of the kind `metric` makes and shows, by name."""

from collections.abc import Mapping
from typing import Any

LEXICAL = ("BLEU", "chrF")
REFERENCE, ENSEMBLE, PRUNED, DISTILLED = "reference", "ensemble", "pruned", "distilled"
OURS = (REFERENCE, ENSEMBLE, PRUNED, DISTILLED)
WHOLE = {"top_layers": 0, "feed_forward": 1.0, "heads": 1.0}  # nothing is cut


def uncut(config: Mapping[str, Any], part: str) -> dict[str, float]:
    """What a figure's curve begins with: nothing is cut, but where heads go, the feed-forward blocks of the recipe.

    So is the paper's figure 6b.
    """
    recipe = config["pruning"].get("recipe", WHOLE)
    return {**WHOLE, "feed_forward": recipe["feed_forward"]} if part == "heads" else WHOLE


def curve(config: Mapping[str, Any], part: str) -> dict[str, dict[str, float]]:
    """The metrics that have less of one part, for a figure, each with how much is cut."""
    name = {"top_layers": "without-{}-top-layers"}.get(part, part.replace("_", "-") + "-{:g}")
    begin = uncut(config, part)
    return {name.format(amount): {**begin, part: amount} for amount in config["pruning"][part]}


def pruned_metrics(config: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """The metrics that pruning makes, the figures' and the recipe's `pruned`, each with how much is cut."""
    if "pruning" not in config:
        return {}
    found = {name: kept for part in WHOLE for name, kept in curve(config, part).items()}
    if "recipe" in config["pruning"]:
        found[PRUNED] = dict(config["pruning"]["recipe"])
    return found


def our_metrics(config: Mapping[str, Any]) -> list[str]:
    """The metrics of the tables that are models of the experiment."""
    found = [REFERENCE]
    if "checkpoint" not in config["reference"] and config["reference"]["members"] > 1:
        found.append(ENSEMBLE)
    if "recipe" in config.get("pruning", {}):
        found.append(PRUNED)
    return [*found, DISTILLED] if "distillation" in config else found


def shown_metrics(config: Mapping[str, Any], judged: str) -> list[str]:
    """What is measured on a judged set: on `development` what pruning makes, else the tables' metrics."""
    if judged not in config["test_sets"]:
        return [REFERENCE, *pruned_metrics(config)]
    entry = config["test_sets"][judged]
    compare = [*LEXICAL, *config["metrics"]] if entry["references"] else []
    return [*compare, *entry["scores"], *our_metrics(config)]
