"""Subject of the runtime's benchmark: our speed against the engines of Marian's family."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from weebill.benchmarks import Row
from weebill.benchmarks.runtime.engines import words
from weebill.benchmarks.runtime.marian_engines import (
    KINDS,
    PYTHONS,
    Files,
    MarianEngine,
    OnText,
    Way,
    short_texts,
    texts,
)
from weebill.benchmarks.runtime.measures import LATENCY_SENTENCES, UNIT, best_size
from weebill.errors import InputError
from weebill.evaluation.timing.timer import pinned, rates_in_turn
from weebill_runtime.architecture import Architecture

CHECKED = 200  # sentences whose translations are compared with ours
# Smallest share of equal translations for an engine's time to count.  A random network's best pieces are about
# equally likely, and the last bit of a float changes some int8 codes by one.
ALIKE = {"float32": 0.95, "int8": 0.85}


def against_marian(
    name: str,
    shape: Architecture,
    isa: str,
    count: int,
    rounds: int,
    pythons: Mapping[str, Path] = PYTHONS,
) -> list[Row]:
    """Measure every engine that runs here and translates like ours; a warning explains why others are left out.

    Engines that get one sentence per call translate at most 500.  pythons: Pythons of the engines' environments.
    """
    rows = []
    with TemporaryDirectory() as folder, ExitStack() as stack:
        try:
            files = Files(shape, Path(folder), isa)
        except InputError as error:
            logging.warning("%s: not measured beside Marian's engines: %s", name, error)
            return []
        engines = [*_engines(name, shape, isa, files, Path(folder), pythons, stack)]
        for alone in (False, True):
            theirs = [engine for engine in engines if engine.kind.way.alone == alone]
            text = texts(shape.vocabulary, min(count, LATENCY_SENTENCES) if alone else count)
            with pinned():
                ours = {
                    way: OnText(way, shape, isa, files)
                    for way in {engine.kind.way: None for engine in theirs}
                }
                both: list[OnText | MarianEngine] = [*ours.values(), *theirs]
                for engine in both:
                    engine.prepare(text, 1 if alone else best_size(engine, text))
                rates = rates_in_turn({one: one.translate for one in both}, words(text), rounds)
            for engine in theirs:
                way = engine.kind.way
                claim = f"{name}, {isa}: {way.precision} with shortlist, text to text, against"
                given = rates[ours[way]], rates[engine], UNIT
                key = f"{claim} {engine.kind}"
                rows.append(Row.of_rounds(f"{claim} {engine}{_length(way)}", *given, key=key))
    return rows


def _length(way: Way) -> str:
    return "" if way.factor == Way.factor else f", outputs {way.factor:g} times as long"


def _engines(
    name: str,
    shape: Architecture,
    isa: str,
    files: Files,
    folder: Path,
    pythons: Mapping[str, Path],
    stack: ExitStack,
) -> Iterator[MarianEngine]:
    """Start the engines, and yield those with the same translations as ours; the stack ends all of them."""
    lines = files.vocabulary.decode(short_texts(shape.vocabulary, CHECKED))
    for number, kind in enumerate(KINDS):
        place = folder / f"engine{number}"
        place.mkdir()
        try:
            given = kind, pythons[kind.engine], isa, files, place
            engine = stack.enter_context(MarianEngine(*given))
            found = engine.lines(lines)
        except InputError as error:
            logging.warning("%s: %s: not measured: %s", name, kind, error)
            continue
        way = Way(kind.alike, True, kind.way.factor, kind.way.constant)
        expected = OnText(way, shape, isa, files, listed=False).lines(lines)
        equal = sum(map(str.__eq__, found, expected)) / len(lines)
        if equal >= (least := ALIKE[kind.alike]):
            yield engine
        else:
            shares = f"{equal:.0%} of its translations are ours, expected {least:.0%}"
            logging.warning("%s: %s: not measured: %s", name, kind, shares)
