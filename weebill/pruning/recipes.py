"""Recipes to prune: whom they prune, how much, and what a pruned student is to be better than."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import product
from typing import Any

from weebill.experiment.shares import part_of
from weebill.experiment.student_names import first_of
from weebill.experiment.variants import (
    UNPRUNED,
    Variant,
    expand_variants,
    matching,
    measured_variants,
)
from weebill.experiment.zoo import Zoo, attention_blocks, feed_forward_blocks

Pruned = tuple[str, str]  # student, recipe
Pair = tuple[Variant, Variant]  # and what it is compared with


def pruned_students(config: Mapping[str, Any]) -> list[Pruned]:
    """Every (student, recipe) among the variants that are measured, in their order."""
    pairs = dict.fromkeys((student, recipe) for student, recipe, _ in measured_variants(config))
    return [pair for pair in pairs if pair[1] != UNPRUNED]


def made_students(config: Mapping[str, Any]) -> list[Pruned]:
    """Every (student, recipe) that `variants` ask for, or that another of them takes its shape from."""
    asked = {v[:2] for pattern in config["variants"] for v in matching(pattern, config)}
    recipes = config["pruning"]
    likes = {(student, recipes.get(recipe, {}).get("like")) for student, recipe in asked}
    return [pair for pair in product(config["students"], recipes) if pair in asked | likes]


def made_variants(config: Mapping[str, Any]) -> list[Variant]:
    """Every variant that is made: those asked for, and the float32 model of every student that they are made from."""
    pruned = [(*pair, "float32") for pair in made_students(config)]
    return list(dict.fromkeys([*expand_variants(config), *pruned]))


def matched(blocks: Mapping[str, int], pattern: str) -> dict[str, int]:
    """The blocks whose names match a pattern, with their widths."""
    return {name: width for name, width in blocks.items() if fnmatchcase(name, pattern)}


def removed(recipe: Mapping[str, Any], entry: Mapping[str, Any]) -> tuple[int, int] | None:
    """How many heads and neurons a recipe takes from a model of the zoo; None where training decides."""
    if recipe["method"] == "late-reset":
        return recipe["heads_per_iteration"] * recipe["iterations"], 0
    if "ranking" not in recipe:
        return None
    heads = matched(attention_blocks(entry), recipe["blocks"]).values()
    neurons = matched(feed_forward_blocks(entry), recipe["blocks"]).values()
    if recipe["ranking"] == "global":
        heads, neurons = [sum(heads)], [sum(neurons)]
    return (
        sum(part_of(recipe["heads"], width) for width in heads),
        sum(part_of(recipe["neurons"], width) for width in neurons),
    )


def comparisons(config: Mapping[str, Any], zoo: Zoo) -> dict[Pruned, list[Pair]]:
    """What the variants of each pruned student are compared with: (variant, baseline), alike in precision.

    Baselines are first the unpruned student; then what the recipe is to be better than: the random choice
    of as many heads and neurons of the same blocks, by the same method where there is one, and the
    training of its shape from scratch.  Only what a checked configuration measures is named.
    """
    return _comparisons(measured_variants(config), config, zoo)


def comparisons_over_seeds(config: Mapping[str, Any], zoo: Zoo) -> dict[str, list[list[Pair]]]:
    """For every student of several seeds its comparisons: of the experiment's seed, and the same of each other."""
    every = _comparisons(expand_variants(config), config, zoo)
    found: dict[str, list[list[Pair]]] = {}
    for (student, recipe), pairs in comparisons(config, zoo).items():
        others = [name for name in config["students"] if name != student == first_of(name)]
        for pair in pairs:
            again = [tuple((other, *one[1:]) for one in pair) for other in others]
            made = [one for one in again if one in every.get((one[0][0], recipe), [])]
            if made:
                found.setdefault(student, []).append([pair, *made])
    return found


def _comparisons(
    variants: Sequence[Variant], config: Mapping[str, Any], zoo: Zoo
) -> dict[Pruned, list[Pair]]:
    found: dict[Pruned, list[Pair]] = {}
    for student, recipe, precision in variants:
        if recipe == UNPRUNED:
            continue
        others = [
            name
            for other, name, in_precision in variants
            if (other, in_precision) == (student, precision) and name != recipe
        ]
        pruned = {name: config["pruning"][name] for name in others if name != UNPRUNED}
        chosen = [
            *(name for name in others if name == UNPRUNED),
            *_random_choice(config["pruning"][recipe], pruned, zoo[student]),
            *_from_scratch(config["pruning"], recipe, pruned),
        ]
        for name in chosen:
            pair = ((student, recipe, precision), (student, name, precision))
            found.setdefault((student, recipe), []).append(pair)
    return found


def _from_scratch(
    recipes: Mapping[str, Mapping[str, Any]],
    recipe: str,
    others: Mapping[str, Mapping[str, Any]],
) -> list[str]:
    """The names of the recipes that train a recipe's shape, which a reset of what is left does not change."""
    shape = {**recipes[recipe], "reset": None}
    return [
        name
        for name, other in others.items()
        if "like" in other and {**recipes[other["like"]], "reset": None} == shape
    ]


def _random_choice(
    recipe: Mapping[str, Any], others: Mapping[str, Mapping[str, Any]], entry: Mapping[str, Any]
) -> Sequence[str]:
    """The name of the recipe that removes as much at random, or nothing."""
    amount = removed(recipe, entry)
    if amount is None or recipe.get("criterion") == "random":
        return []
    alike = [
        name
        for name, other in others.items()
        if other.get("criterion") == "random"
        and other["blocks"] == recipe["blocks"]
        and removed(other, entry) == amount
    ]
    alike.sort(key=lambda name: others[name]["method"] != recipe["method"])
    return alike[:1]
