"""COMET scores against those of unbabel-comet's predict, by one checkpoint, of random weights or given, on one core.

unbabel-comet works as `comet-score` calls it: with its cache of sentence vectors, its sorted batches of the default
size, one system after the other.  Neither side's start is timed.  Rates count processor time of both processes, so
that other work on the machine counts little.
"""

import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated

import numpy as np

from weebill.benchmarks import Row
from weebill.benchmarks.metric.checkpoint import (
    SHAPES,
    checkpoint_of,
    prune,
    random_network,
    write_random_checkpoint,
)
from weebill.benchmarks.metric.comet import Comet
from weebill.benchmarks.opponent import compete
from weebill.benchmarks.options import Option
from weebill.errors import InputError
from weebill.evaluation.timing.timer import one_thread, rates_in_turn
from weebill.metric.cache import VectorCache
from weebill.metric.folder import Metric, load_metric
from weebill.metric.scorer import PRECISIONS, Scorer
from weebill.report.papers import load
from weebill.text_files import read_lines

COMET = Path(".venvs/comet/bin/python")
NEWS = Path("../shared/data/news/wmt21.en-de")
NAME = "newstest2021.en-de"
SYSTEMS = (1, 8)
SMALLEST = {"systems": (2,), "segments": 50}
# Help that `benchmark mbr` shares.
COMET_PYTHON = "Python of the environment that `envs/install.sh comet .venvs/comet` makes"
CHECKPOINT = "a checkpoint of unbabel-comet, instead of random weights of a shape"


@dataclass(frozen=True)
class Text:
    """Test set, its systems by name, and another reference that serves as one more system."""

    sources: list[str]
    references: list[str] | None  # None for a metric that reads none
    systems: dict[str, list[str]]
    another: list[str]


def run(
    rounds: int,
    comet: Annotated[Path, Option(COMET_PYTHON, "PYTHON")] = COMET,
    news: Annotated[
        Path, Option(f"folder with {NAME}.src.en.gz, .ref.[AC].de.gz, .hyp.*.de.gz", "FOLDER")
    ] = NEWS,
    shape: Annotated[str, Option("shape of XLM-R", choices=SHAPES)] = "base",
    systems: Annotated[Sequence[int], Option("systems scored together", "N")] = SYSTEMS,
    segments: Annotated[
        int | None, Option("approximate number of segments, evenly spaced; default all", "N")
    ] = None,
    model: Annotated[Path | None, Option(CHECKPOINT, "FOLDER")] = None,
) -> Iterator[Row]:
    """Yield segments per second for each number of systems and precision, and for one more system with the cache.

    With random weights, smaller shapes are measured too.  Raises InputError if the text is missing or unbabel-comet
    cannot be run.
    """
    text = read_text(news, segments)
    if max(systems) > len(text.systems):
        raise InputError(
            f"--systems {max(systems)}: {news} has translations of {len(text.systems)}"
        )
    with tempfile.TemporaryDirectory() as name, one_thread():
        folder = Path(name)
        metric, what = load_measured(folder, shape, model, text)
        if not metric.network.architecture.needs_references:
            text = replace(text, references=None)
        scorers = {precision: Scorer(metric, precision) for precision in PRECISIONS}
        title = f"{what}, newstest2021 en-de, {len(text.sources):,} segments"
        chosen = list(text.systems.values())[: max(systems)]
        with Comet(
            comet, checkpoint_of(metric), text.sources, text.references, chosen, folder
        ) as opponent:
            for count in systems:
                yield from _against(opponent, scorers, text, count, rounds, title)
        for scorer in scorers.values():
            yield _one_more(scorer, text, folder, rounds, title)
        for scorer in scorers.values() if model is None else ():
            yield from _smaller(
                scorer, text, rounds, title, paper_speeds() if shape == "large" else {}
            )


def load_measured(folder: Path, shape: str, model: Path | None, text: Text) -> tuple[Metric, str]:
    """Load a metric, of random weights unless a checkpoint is given; return it and its name in rows.

    folder: for random weights, whose tokenizer is trained on the text.
    """
    lines = chain(text.sources, text.references or (), *text.systems.values())
    metric = load_metric(model or write_random_checkpoint(folder / "metric", shape, lines))
    return metric, f"COMET of XLM-R's {shape} shape" if model is None else str(model)


def read_text(folder: Path, segments: int | None) -> Text:
    """Read newstest2021; segments: about how many to keep, None for all.  Raises InputError if it is missing."""
    hypotheses = sorted(folder.glob(f"{NAME}.hyp.*.de.gz"))
    if not hypotheses:
        raise InputError(f"--news {folder}: no {NAME}.hyp.SYSTEM.de.gz; name a folder with them")

    def read(path: Path) -> list[str]:
        lines = list(read_lines(path))
        return lines if segments is None else lines[:: max(1, len(lines) // segments)]

    return Text(
        read(folder / f"{NAME}.src.en.gz"),
        read(folder / f"{NAME}.ref.A.de.gz"),
        {path.name.split(".")[3]: read(path) for path in hypotheses},
        read(folder / f"{NAME}.ref.C.de.gz"),
    )


def _against(
    opponent: Comet, scorers: dict[str, Scorer], text: Text, count: int, rounds: int, title: str
) -> Iterator[Row]:
    """Yield rows of ours in each precision against unbabel-comet, on the first `count` systems."""
    systems = dict(list(text.systems.items())[:count])
    ours = {
        precision: partial(scorer.score, systems, text.sources, text.references)
        for precision, scorer in scorers.items()
    }
    found = compete(ours, opponent, count, float(count * len(text.sources)), rounds)
    wanted = np.array(found.answers["opponent"])
    for precision, rates in found.ours.items():
        scores = np.stack([*found.answers[precision].values()])
        same = list(scores.mean(1).argsort()) == list(wanted.mean(1).argsort())
        yield Row.of_rounds(
            f"{title}, {count} system{'s' * (count > 1)}, {precision}, against unbabel-comet's predict, float32; "
            f"scores differ by at most {np.abs(scores - wanted).max():.1e} (they scatter by {wanted.std():.1e}), "
            f"the ranking is {'the same' if same else 'another'}; one core",
            rates,
            found.other,
            unit="segments/s",
            key=f"{title}, {count} together, {precision}",
        )


def _one_more(scorer: Scorer, text: Text, folder: Path, rounds: int, title: str) -> Row:
    """Compare all systems and one more, of which the cache lacks only that one, with all of them without a cache."""
    filled, used = (folder / f"{scorer.precision}.{name}.sqlite" for name in ("filled", "used"))
    scorer.cache = VectorCache(filled)
    scorer.score(text.systems, text.sources, text.references)
    scorer.cache.close()
    systems = {**text.systems, "another": text.another}

    def with_cache() -> None:
        shutil.copyfile(filled, used)
        scorer.cache = VectorCache(used)
        scorer.score(systems, text.sources, text.references)
        scorer.cache.close()

    def without() -> None:
        scorer.cache = None
        scorer.score(systems, text.sources, text.references)

    works, amount = {"cache": with_cache, "fresh": without}, len(systems) * len(text.sources)
    rates = rates_in_turn(works, amount, rounds, clock=time.process_time)
    scorer.cache = None
    return Row.of_rounds(
        f"{title}, {len(systems)} systems of which {len(text.systems)} are in the cache, {scorer.precision}, "
        "against all of them fresh; one core",
        *rates.values(),
        unit="segments/s",
    )


def paper_speeds() -> dict[str, float]:
    """Return the speeds of the paper's smaller metrics relative to COMET of the large shape (COMETINHO §4.3, §5)."""
    claims = load("cometinho_claims")
    values = dict(zip(claims["claim"], claims["value"], strict=True))
    return {
        "PRUNE": 1 / (1 - float(values["PRUNE-COMET speed improvement"]) / 100),  # of the time
        "DISTIL": float(values["DISTIL-COMET speed factor"]),
    }


def _smaller(
    scorer: Scorer, text: Text, rounds: int, title: str, paper: Mapping[str, float]
) -> Iterator[Row]:
    """Yield rows of a metric pruned like PRUNE-COMET and one of DISTIL-COMET's shape, on one system.

    Both are compared with the whole metric.
    """
    whole = scorer.metric
    pruned = deepcopy(whole.network)
    prune(pruned)
    distilled = random_network("distil", whole.network.encoder.config.vocab_size)
    scorers = {"whole": scorer} | {
        name: Scorer(replace(whole, network=network), scorer.precision)
        for name, network in (("PRUNE", pruned), ("DISTIL", distilled))
    }
    system = dict(list(text.systems.items())[:1])
    works = {
        name: partial(one.score, system, text.sources, text.references)
        for name, one in scorers.items()
    }
    rates = rates_in_turn(works, len(text.sources), rounds, clock=time.process_time)
    other = rates.pop("whole")
    for name, ours in rates.items():
        yield Row.of_rounds(
            f"{title}, 1 system, {scorer.precision}, {name}-COMET's shape against the whole; one core",
            ours,
            other,
            unit="segments/s",
            paper=paper.get(name),
        )
