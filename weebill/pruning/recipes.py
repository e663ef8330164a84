"""Pruning recipes of a configuration: their students, and the baselines of each pruned student."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from weebill.experiment.student_names import first_of
from weebill.experiment.variants import (
    UNPRUNED,
    Variant,
    expand_variants,
    matching,
    measured_variants,
)
from weebill.experiment.zoo import Zoo, attention_blocks, feed_forward_blocks
from weebill.pruning.method import Method, ModelShape
from weebill.pruning.methods import pruning_method

Pruned = tuple[str, str]  # student, recipe
Pair = tuple[Variant, Variant]  # a variant and its baseline


def pruned_students(config: Mapping[str, Any]) -> list[Pruned]:
    """List every (student, recipe) among the measured variants, in their order."""
    pairs = dict.fromkeys((student, recipe) for student, recipe, _ in measured_variants(config))
    return [pair for pair in pairs if pair[1] != UNPRUNED]


def made_students(config: Mapping[str, Any]) -> list[Pruned]:
    """List every (student, recipe) that `variants` ask for, or whose shape another of them needs."""
    asked = {v[:2] for pattern in config["variants"] for v in matching(pattern, config)}
    methods = methods_of(config)
    shapes = {(name, methods[recipe].shape_from) for name, recipe in asked if recipe != UNPRUNED}
    return [pair for pair in product(config["students"], methods) if pair in asked | shapes]


def made_variants(config: Mapping[str, Any]) -> list[Variant]:
    """List all variants to make: the requested ones, and the float32 models from which they are made."""
    pruned = [(*pair, "float32") for pair in made_students(config)]
    return list(dict.fromkeys([*expand_variants(config), *pruned]))


def methods_of(config: Mapping[str, Any]) -> dict[str, Method]:
    """Return the method of each recipe of a checked configuration, by the recipe's name."""
    return {name: pruning_method(recipe) for name, recipe in config["pruning"].items()}


def shape_of(entry: Mapping[str, Any]) -> ModelShape:
    """Return the shape of a single model of the zoo."""
    layers = {side: entry[f"{side}_layers"] for side in ("encoder", "decoder")}
    return ModelShape(attention_blocks(entry), feed_forward_blocks(entry), layers)


def comparisons(config: Mapping[str, Any], zoo: Zoo) -> dict[Pruned, list[Pair]]:
    """Return the comparisons of each pruned student: pairs (variant, baseline) of one precision, all measured.

    The first baseline is the unpruned student.  The others are the random choice of as many heads and neurons of the
    same blocks, by the same method if possible, and the training of the same shape from scratch.
    """
    return _comparisons(measured_variants(config), config, zoo)


def comparisons_over_seeds(config: Mapping[str, Any], zoo: Zoo) -> dict[str, list[list[Pair]]]:
    """Return the comparisons of every student of several seeds: each with the experiment's seed, then the others."""
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
    methods, found = methods_of(config), {}
    for student, recipe, precision in variants:
        if recipe == UNPRUNED:
            continue
        others = [name for other, name, its in variants if (other, its) == (student, precision)]
        rivals = {name: methods[name] for name in others if name not in (recipe, UNPRUNED)}
        method, shape = methods[recipe], shape_of(zoo[student])
        amount = method.removes(shape)
        alike = [
            name
            for name, rival in rivals.items()
            if rival.baseline == "chance" != method.baseline
            and amount is not None
            and rival.removes(shape) == amount
        ]
        baselines = [
            *(name for name in others if name == UNPRUNED),
            *sorted(alike, key=lambda name: type(rivals[name]) is not type(method))[:1],
            *(
                name
                for name, rival in rivals.items()
                if rival.baseline == "from scratch" and method.same_shape(methods[rival.shape_from])
            ),
        ]
        for name in baselines:
            pair = ((student, recipe, precision), (student, name, precision))
            found.setdefault((student, recipe), []).append(pair)
    return found
