"""Names of the metrics that an experiment of the kind `metric` makes and reports."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

LEXICAL = ("BLEU", "chrF")
REFERENCE, ENSEMBLE, PRUNED, DISTILLED = "reference", "ensemble", "pruned", "distilled"
OURS = (REFERENCE, ENSEMBLE, PRUNED, DISTILLED)
# Ways of the reference scorer, which are timed: what COMETINHO §3 compares.
PLAIN, SORTED = "as given, without cache", "sorted, without cache"
CACHED, SORTED_CACHED = "as given, with cache", "sorted, with cache"
OURS_WAY = "ours"  # beginning of the names of our scorer's ways
PARTS = ("layers", "neurons", "heads")  # each has a figure
Recipe = list[dict[str, Any]]  # methods, applied in turn


def recipe_without(layers: int = 0, neurons: float = 0.0, heads: float = 0.0) -> Recipe:
    """Return the methods that remove top layers, then shares of each layer's neurons and heads (COMETINHO §4)."""
    depth = {"method": "depth", "layers": layers}
    shares = {"method": "one-shot", "criterion": "gradient", "heads": heads, "neurons": neurons}
    one_shot = {**shares, "ranking": "layer", "blocks": "*"}
    return [*[depth] * bool(layers), *[one_shot] * bool(neurons or heads)]


def neurons_before(config: Mapping[str, Any], part: str) -> float:
    """Return the share of neurons that all metrics of a curve lack: for heads the recipe's, as in figure 6b."""
    recipe = config["pruning"].get("recipe", []) if part == "heads" else []
    return next((method["neurons"] for method in recipe if "neurons" in method), 0.0)


def curve(config: Mapping[str, Any], part: str) -> dict[str, Recipe]:
    """Return the metrics of a part's figure, which remove growing amounts of that part, each with its methods."""
    name = "without-{:g}-" + {"layers": "top-layers"}.get(part, part)
    begin = {"neurons": neurons_before(config, part)}
    return {
        name.format(amount): recipe_without(**{**begin, part: amount})
        for amount in config["pruning"][part]
    }


def pruned_metrics(config: Mapping[str, Any]) -> dict[str, Recipe]:
    """Return the metrics that pruning makes, each with its methods: the figures', `pruned` and the other recipes'."""
    if "pruning" not in config:
        return {}
    found = {name: recipe for part in PARTS for name, recipe in curve(config, part).items()}
    if "recipe" in config["pruning"]:
        found[PRUNED] = config["pruning"]["recipe"]
    return found | config["pruning"].get("recipes", {})


def recipe_metrics(config: Mapping[str, Any]) -> list[str]:
    """Return the pruned metrics of the tables: `pruned`, and those that `recipes` names."""
    pruning = config.get("pruning", {})
    return [*[PRUNED] * ("recipe" in pruning), *pruning.get("recipes", {})]


def distilled_metrics(config: Mapping[str, Any]) -> dict[str, str]:
    """Return the metrics that learn from the ensemble's scores, each with the encoder that it starts from."""
    if "distillation" not in config:
        return {}
    section = config["distillation"]
    others = {f"{DISTILLED}-{encoder}": encoder for encoder in section["other_encoders"]}
    return {DISTILLED: section["encoder"], **others}


def our_metrics(config: Mapping[str, Any]) -> list[str]:
    """Return the experiment's own models among the metrics of the tables."""
    found = [REFERENCE]
    if "checkpoint" not in config["reference"] and config["reference"]["members"] > 1:
        found.append(ENSEMBLE)
    return [*found, *recipe_metrics(config), *distilled_metrics(config)]


def shown_metrics(config: Mapping[str, Any], judged: str) -> list[str]:
    """Return the metrics measured on a judged set: pruned ones on `development`, else those of the tables."""
    if judged not in config["test_sets"]:
        return [REFERENCE, *pruned_metrics(config)]
    entry = config["test_sets"][judged]
    compare = [*LEXICAL, *config["metrics"]] if entry["references"] else []
    return [*compare, *entry["scores"], *our_metrics(config)]


def damaged_name(judged: str) -> str:
    """Return the name of a test set's damaged translations; no test set may have this name."""
    return f"{judged}+damaged"


def damaged_metrics(config: Mapping[str, Any], judged: str) -> list[str]:
    """Return the metrics whose robustness is measured on a test set: all that can score other translations."""
    given = config["test_sets"][judged]["scores"]
    return [name for name in shown_metrics(config, judged) if name not in given]


def damaged_sets(config: Mapping[str, Any], folder: Path) -> dict[str, dict[str, Any]]:
    """Return entries of judged sets with damaged translations, by name; their tables are in `folder`."""
    if "robustness" not in config["evaluation"]:
        return {}
    return {
        damaged_name(name): {
            **entry,
            **{"table": str(folder / f"{name}.tsv"), "score": "score", "statistic": "mqm"},
            **{"humans": True, "held_out": None, "scores": {}},
        }
        for name, entry in config["test_sets"].items()
    }
