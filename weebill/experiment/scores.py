"""Scores that a corpus may have, and their settings at each stage."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal, NamedTuple, get_args

from weebill.experiment.corpora import USES, Config, sides_of
from weebill.settings import Count, Ge, Lt, section
from weebill_runtime.names import SIDES


class Score(NamedTuple):
    """Score of a row: its column in tables, the sides that it reads, and whether large values are good."""

    column: str
    sides: tuple[str, ...]
    higher_is_better: bool
    unit: str


# All scores in the order in which they drop rows, by the name that configuration and `dropped_by` use.
# Sources: bicleaner-ai: Zaragoza-Bernabeu et al. 2022; language models: WMT21 §2; reverse model: WNGT20 §3.
# The combined score is computed from the scores before it.
SCORES = {
    "bicleaner": Score("bicleaner_probability", SIDES, True, "probability"),
    "language_model_source": Score("cross_entropy_source", ("source",), False, "bits per word"),
    "language_model_target": Score("cross_entropy_target", ("target",), False, "bits per word"),
    "lexical_translation": Score("lexical_log_ratio", SIDES, True, "nats per word"),
    "reverse_model": Score("reverse_log_probability", SIDES, True, "nats per piece"),
    "combined": Score("combined_score", SIDES, True, "log odds of a good pair"),
}


@section
class Cut:
    """Rows that a score drops, given by one of these keys; without a key, the score is only a column."""

    percent: Annotated[float, Ge(0), Lt(100)] | None = None
    """Percentage of the rows to drop, the worst first: floor(n · percent / 100) of n rows. Among equal scores, the
    later row is dropped first."""
    best: Count | None = None
    """Number of rows to keep, those with the best scores."""
    threshold: float | None = None
    """Worst score of a kept row."""

    def count(self, rows: int) -> int:
        """Return the number of `rows` rows that `percent` or `best` drops; 0 if neither is given."""
        if self.percent is not None:
            return math.floor(rows * Fraction(str(self.percent)) / 100)
        return 0 if self.best is None else max(0, rows - self.best)


Stage = Literal["cleaning", "back_translation", "distillation"]
STAGES: tuple[Stage, ...] = get_args(Stage)


def section_of(config: Config, corpus: str, stage: Stage) -> Config:
    """Return a stage's section of a checked configuration with the overrides of one corpus."""
    return _laid_over(config[stage], config["corpora"][corpus].get(stage, {}))


def _laid_over(section: Mapping[str, Any], own: Mapping[str, Any]) -> Config:
    """Return a section with a corpus' own keys; a cut is replaced as a whole, since its keys exclude each other."""
    merged = dict(section)
    for key, value in own.items():
        deeper = isinstance(value, Mapping) and key != "cut" and key in merged
        merged[key] = _laid_over(merged[key], value) if deeper else value
    return merged


def scores_of(config: Config, corpus: str, stage: Stage) -> Config:
    """Return the settings, by name, of a corpus' scores at a stage, in the order in which they drop rows.

    Monolingual text has only one side until it is translated.
    """
    configured = section_of(config, corpus, stage)["scores"]
    monolingual = USES[config["corpora"][corpus]["use"]]
    if stage == "back_translation" and monolingual != "target":
        return {}
    sides = {*sides_of(monolingual if stage == "cleaning" else None)}
    named = [name for name, score in SCORES.items() if sides.issuperset(score.sides)]
    return {name: configured[name] for name in named if name in configured}


def components(config: Config) -> list[str]:
    """Return the names of the scores for which `scoring` has models; the combined score is made of them."""
    always = {"language_model_source", "language_model_target"}
    return [name for name in SCORES if name in always or name in config["scoring"]]


def asked_for(config: Config) -> set[str]:
    """Return the names of all scores that some stage uses."""
    return {name for stage in STAGES for name in config[stage]["scores"]}
