"""Combination of several scores: a logistic regression on a pair's scores and text features, fitted to labels."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from weebill.corpus.cleaning.filters.numbers import numbers_in
from weebill.corpus.cleaning.pairs import measure
from weebill.errors import InputError
from weebill.files import read_json, write_json

PENALTY = 1.0  # the loss adds PENALTY / 2 times the squared weights of standardised features
SHORT = 5  # characters added to both lengths, so that short lines may differ more
SENTENCE_ENDS = ".!?…。！？｡।॥؟۔։።፧།။។៕"
CLOSING = "\"'”“’»«)]）」』】》"

Features = Mapping[str, np.ndarray]  # name: values (rows,)


@dataclass(frozen=True)
class Combination:
    """Linear function intercept + Σ weight · feature: the log odds (rows,) of a good pair.

    length_ratio: median of log(target characters / source characters); a pair's feature is its distance to it.
    """

    weights: dict[str, float]
    intercept: float
    length_ratio: float

    def __call__(self, features: Features) -> np.ndarray:
        matrix = _matrix(features, tuple(self.weights), self.length_ratio)
        return matrix @ np.array([*self.weights.values()]) + self.intercept

    def save(self, path: str | Path) -> None:
        """Write the combination as JSON."""
        write_json(path, self)

    @classmethod
    def load(cls, path: str | Path) -> "Combination":
        """Read a combination that `save` wrote.  Raises InputError if the file contains something else."""
        try:
            return cls(**read_json(path))
        except TypeError as error:
            raise InputError(f"{path}: not a combination of scores; make it again") from error


def features_of(
    scores: Features, sources: Sequence[str], targets: Sequence[str], languages: tuple[str, str]
) -> dict[str, np.ndarray]:
    """Return the scores by name, and six features of the normalised text, each (rows,)."""
    sides, marks = (list(sources), list(targets)), tuple(SENTENCE_ENDS)
    counts = list(map(measure, sides, languages))
    characters = [np.array([len(text) for text in texts], float) for texts in sides]
    ends = [np.array([t.rstrip(CLOSING).endswith(marks) for t in texts], float) for texts in sides]
    letters, visible = (sum(getattr(c, of) for c in counts) for of in ("letters", "length"))
    return {
        **scores,
        "length_ratio": np.log((characters[1] + SHORT) / (characters[0] + SHORT)),
        "length": np.log1p(counts[0].tokens + counts[1].tokens),
        "letters": letters / np.maximum(visible, 1),
        "numbers": np.fromiter(map(_shared_numbers, *sides), float, len(sides[0])),
        "sentence_ends": ends[0] + ends[1],
        "one_sentence_end": np.abs(ends[0] - ends[1]),
    }


def combined_scorer(path: str | Path, languages: tuple[str, str]) -> Callable[..., np.ndarray]:
    """Return a function from source lines, target lines and their scores by name to the combined score (lines,).

    Raises InputError if the file is missing or contains no combination.
    """
    combination = Combination.load(path)
    return lambda sources, targets, **others: combination(
        features_of(others, sources, targets, languages)
    )


def _shared_numbers(source: str, target: str) -> float:
    """Compute Dice's coefficient of the numbers of both sides; smoothing moves it towards 1 for few numbers."""
    one, other = set(numbers_in(source)), set(numbers_in(target))
    return (2 * len(one & other) + 1) / (len(one) + len(other) + 1)


def fit(features: Features, good: np.ndarray) -> Combination:
    """Fit the regression of the labels `good`, (rows,) bool, on all features."""
    names = tuple(features)
    length_ratio = float(np.median(features["length_ratio"][good]))
    matrix = _matrix(features, names, length_ratio)
    means, deviations = matrix.mean(axis=0), matrix.std(axis=0)
    deviations[deviations == 0] = 1.0
    standard = np.column_stack([(matrix - means) / deviations, np.ones(len(matrix))])
    signs = np.where(good, 1.0, -1.0)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        margins, free = signs * (standard @ weights), np.append(weights[:-1], 0.0)
        gradient = PENALTY * free - standard.T @ (signs * expit(-margins))
        return np.logaddexp(0, -margins).sum() + PENALTY / 2 * free @ free, gradient

    found = minimize(loss, np.zeros(standard.shape[1]), jac=True, method="L-BFGS-B")
    weights = found.x[:-1] / deviations
    return Combination(
        dict(zip(names, weights.tolist(), strict=True)),
        float(found.x[-1] - weights @ means),
        length_ratio,
    )


def cross_validated(features: Features, good: np.ndarray, seed: int, folds: int = 5) -> np.ndarray:
    """Return log odds (rows,), each from a fit to the other folds; all folds have the same share of good rows."""
    draw, fold = np.random.default_rng(seed), np.empty(len(good), int)
    for label in (False, True):
        rows = draw.permutation(np.flatnonzero(good == label))
        fold[rows] = np.arange(len(rows)) % folds
    values = np.empty(len(good))
    for number in range(folds):
        inside = fold == number
        fitted = fit({name: column[~inside] for name, column in features.items()}, good[~inside])
        values[inside] = fitted({name: column[inside] for name, column in features.items()})
    return values


def _matrix(features: Features, names: tuple[str, ...], length_ratio: float) -> np.ndarray:
    columns = dict(features)
    columns["length_ratio"] = np.abs(columns["length_ratio"] - length_ratio)
    return np.column_stack([columns[name] for name in names])
