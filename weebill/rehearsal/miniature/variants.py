"""Choice of few students and variants that represent all: one for each combination that rules distinguish."""

from collections.abc import Iterable, Mapping
from typing import Any

from weebill.experiment.student_names import architecture_of, repeats, text_of
from weebill.experiment.variants import (
    UNPRUNED,
    Variant,
    expand_exports,
    expand_variants,
    timed_on_gpus,
)
from weebill.experiment.zoo import Zoo

Key = tuple[Any, ...]


def student_kind(student: str, zoo: Zoo) -> Key:
    """Return a student's kind: structure of its architecture, and whether it has a text or seed of its own."""
    entry = zoo[architecture_of(student)]
    modified = entry["attention_width"] != entry["embedding"]
    shape = (entry["decoder"], entry["decoder_tied"], modified, entry.get("vocabulary"))
    return (*shape, text_of(student) is not None, repeats(student))


def recipe_kind(recipe: str, config: Mapping[str, Any]) -> Key:
    """Return a recipe's method and those of its settings that are choices: words, or yes or no."""
    settings = config["pruning"].get(recipe, {})
    return tuple(sorted((k, v) for k, v in settings.items() if isinstance(v, str | bool)))


def variant_kind(variant: Variant, config: Mapping[str, Any], zoo: Zoo) -> Key:
    """Return a variant's kind of student, method and precision; the miniature has one variant of each kind."""
    student, recipe, precision = variant
    of_own = student != architecture_of(
        student
    )  # such a student is only compared, in one precision
    kind = student_kind(student, zoo)
    return kind, recipe_kind(recipe, config), "" if of_own else precision


class Chosen:
    """Chosen variants of an experiment, and the chosen one that represents any other."""

    def __init__(self, config: Mapping[str, Any], zoo: Zoo, full: bool = False) -> None:
        """Choose; full: all variants."""
        self._config, self._zoo = config, zoo
        every = expand_variants(dict(config))
        self.variants = every if full else self._few(every)
        self.students = [
            name for name in config["students"] if any(name == one[0] for one in self.variants)
        ]
        recipes = {recipe for _, recipe, _ in self.variants}
        shapes = {config["pruning"][one].get("like") for one in recipes if one != UNPRUNED}
        self.recipes = [name for name in config["pruning"] if name in recipes | shapes]

    def stands_for(self, variant: Variant) -> Variant | None:
        """Return a variant itself if it is chosen, else a chosen one of its kind; None if there is none."""
        kind = variant_kind(variant, self._config, self._zoo)
        alike = (one for one in self.variants if variant_kind(one, self._config, self._zoo) == kind)
        return variant if variant in self.variants else next(alike, None)

    def patterns(self, variants: Iterable[Variant]) -> list[str]:
        """Return the names of the variants that represent the given ones."""
        found = (self.stands_for(one) for one in variants)
        return list(dict.fromkeys("/".join(one) for one in found if one is not None))

    def gpu_patterns(self) -> list[str]:
        """Return `evaluation.speed.gpu_variants`."""
        return self.patterns(timed_on_gpus(dict(self._config)))

    def exports(self) -> dict[str, list[str]]:
        """Return the section `exports`."""
        found: dict[str, list[Variant]] = {}
        for form, variant in expand_exports(dict(self._config)):
            found.setdefault(form, []).append(variant)
        return {form: self.patterns(variants) for form, variants in found.items()}

    def _few(self, every: list[Variant]) -> list[Variant]:
        """Choose students one by one: always the one with the most kinds of variants that are not covered yet."""
        kinds = {one: variant_kind(one, self._config, self._zoo) for one in every}
        chosen: list[Variant] = []
        covered: set[Key] = set()

        def new(student: str) -> set[Key]:
            return {kinds[one] for one in every if one[0] == student} - covered

        plain, own = [], []
        for name in dict.fromkeys(one[0] for one in every):
            (plain if name == architecture_of(name) else own).append(name)
        for waiting in (plain, own):
            # A student with a text or seed of its own is compared with the one that has the experiment's.
            taken = {one[0] for one in chosen}
            waiting = [name for name in waiting if architecture_of(name) in taken] or waiting
            while new(best := max(waiting, key=lambda name: len(new(name)), default="")):
                for one in (one for one in every if one[0] == best):
                    if kinds[one] not in covered or one[1:] == (UNPRUNED, "float32"):
                        chosen.append(one)
                        covered.add(kinds[one])
        return [one for one in every if one in chosen]
