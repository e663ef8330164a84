"""What recipes to prune ask of the training and of the students, where that cannot be had."""

from collections.abc import Iterator, Mapping
from typing import Any

from weebill.configuration.schema import Fault, unknown
from weebill.experiment.recipes import made_students, matched, removed
from weebill.experiment.searches import is_search
from weebill.experiment.variants import UNPRUNED, is_search
from weebill.experiment.zoo import Zoo, attention_blocks, feed_forward_blocks, members
from weebill.pruning.recipes import made_students, matched, removed

Config = dict[str, Any]
Recipe = Mapping[str, Any]
Problem = tuple[tuple[str, ...], str]  # the key below the recipe, and what is wrong with it

# What follows `reset_to` before the last training begins, by the key that counts it.
PHASES = ("regularise_updates", "prune_updates")


def recipe_names(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Names that stand for something else."""
    for name in config["pruning"]:
        if name == UNPRUNED or is_search(name):
            meaning = "as trained" if name == UNPRUNED else "with this search"
            message = f"found a recipe of this name, expected another: it stands for the student {meaning}"
            yield Fault(("pruning", name), message)


def criteria(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Criteria that know nothing of what they are to choose."""
    for name, recipe in config["pruning"].items():
        if recipe.get("criterion") == "confidence" and recipe.get("neurons"):
            yield Fault(
                ("pruning", name, "criterion"),
                "found confidence with neurons, expected another: it scores heads, not neurons",
            )


def shapes_from_scratch(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Shapes to train from scratch that no recipe makes."""
    recipes = config["pruning"]
    for name, recipe in recipes.items():
        like = recipe.get("like")
        if like is not None and like not in recipes:
            yield Fault(("pruning", name, "like"), unknown("recipe", like, recipes, "pruning"))
        elif like is not None and "like" in recipes[like]:
            message = f"found '{like}', which prunes nothing itself, expected a recipe that does"
            yield Fault(("pruning", name, "like"), message)


def updates(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Recipes that leave no updates for the last training."""
    whole = config["training"]["updates"]
    for name, recipe in config["pruning"].items():
        start = recipe.get("reset_to", 0)
        if start >= whole:
            yield Fault(
                ("pruning", name, "reset_to"),
                f"found {start}, expected less than training.updates {whole}, which count from the "
                "start",
            )
            continue
        for key in PHASES:
            if not recipe.get("reset") and start + recipe.get(key, 0) >= whole:
                yield Fault(
                    ("pruning", name, key),
                    f"found {recipe[key]} after reset_to {start}, expected together less than "
                    f"training.updates {whole}, whose last train what is left",
                )


def amounts(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Blocks, heads, neurons and layers that a student does not have, or cannot lose."""
    for student, name in made_students(config):
        entry, recipe = zoo.get(student), config["pruning"][name]
        if entry is None or len(members(entry)) > 1:  # faults of `students`
            continue
        if recipe["method"] == "depth":
            found = _layers(recipe, entry, student)
        elif "blocks" in recipe:
            found = _blocks(recipe, entry, student) or _heads_and_neurons(recipe, entry, student)
        else:
            found = None
        if found:
            yield Fault(("pruning", name, *found[0]), found[1])


def _layers(recipe: Recipe, entry: Mapping, student: str) -> Problem | None:
    side, count = recipe["stack"], recipe["layers"]
    depth = entry[f"{side}_layers"]
    if count < depth:
        return None
    return ("layers",), f"found {count}, expected less than {depth}, the {side}'s of '{student}'"


def _blocks(recipe: Recipe, entry: Mapping, student: str) -> Problem | None:
    """Why the pattern of blocks does not fit the recipe."""
    pattern = recipe["blocks"]
    attention = matched(attention_blocks(entry), pattern)
    feed_forward = matched(feed_forward_blocks(entry), pattern)
    wanted = {
        "attention": (attention, recipe["method"] == "late-reset" or recipe.get("heads")),
        "feed-forward": (feed_forward, recipe.get("neurons")),
        "attention or feed-forward": (attention or feed_forward, True),
    }
    for kind, (blocks, needed) in wanted.items():
        if needed and not blocks:
            message = f"expected a pattern that matches {kind} blocks of '{student}'"
            return ("blocks",), f"found '{pattern}', {message}"
    unseen = [name for name in attention if not name.startswith("encoder.")]
    if recipe.get("criterion") == "confidence" and unseen:
        message = f"expected encoder blocks alone, as {unseen[0]} is not observed"
        return ("blocks",), f"found '{pattern}' for criterion confidence, {message}"
    return None


def _heads_and_neurons(recipe: Recipe, entry: Mapping, student: str) -> Problem | None:
    """Why so many cannot go."""
    amount, pattern = removed(recipe, entry), recipe["blocks"]
    if amount is None:
        return None
    heads, neurons = amount
    if not heads and not neurons:
        return (), f"found shares that come to no head and no neuron of '{student}', expected more"
    attention = matched(attention_blocks(entry), pattern)
    present = sum(attention.values())
    last = sum(name.endswith("cross_attention") for name in attention)
    asked = f"{heads} heads"
    if recipe["method"] == "late-reset":
        asked = (
            f"{recipe['heads_per_iteration']} heads x {recipe['iterations']} iterations = {heads}"
        )
    if heads > present:
        return (
            (),
            f"found {asked}, expected at most {present}, the heads of '{student}' in {pattern}",
        )
    if heads > present - last:
        return (), (
            f"found {asked}, expected at most {present - last}, which leave each cross-attention of "
            f"'{student}' a head: without any a decoder sees nothing of the source"
        )
    return None
