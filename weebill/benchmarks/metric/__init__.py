"""COMET scores against unbabel-comet's predict, with the same checkpoint (random weights, or given), on one core.

unbabel-comet runs as in `comet-score`: with its cache of sentence vectors and sorted batches of the default size, one
system after the other.  Rates count processor time of both processes, without starts.
"""

import json
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated

import numpy as np

from weebill.benchmarks import Option, Row
from weebill.benchmarks.metric.checkpoint import (
    SHAPES,
    checkpoint_of,
    prune,
    random_network,
    write_random_checkpoint,
)
from weebill.benchmarks.opponent import Opponent, compete
from weebill.errors import InputError
from weebill.evaluation.timing.metric_speed import Text
from weebill.evaluation.timing.timer import one_thread, rates_in_turn
from weebill.experiment.origins import FOLDER
from weebill.metric.cache import VectorCache
from weebill.metric.folder import Metric, load_metric
from weebill.metric.reader import PRECISIONS
from weebill.metric.scorer import Scorer
from weebill.metric.tokenizer import SENTENCEPIECE
from weebill.report.papers import load
from weebill.text_files import read_lines

COMET = Path(".venvs/comet/bin/python")
NEWS = FOLDER / "news/wmt21.en-de"
NAME = "newstest2021.en-de"
SYSTEMS = (1, 8)
OPPONENT = "unbabel-comet's predict"
SMALLEST = {"systems": (2,), "segments": 20, "precision": ("int8",)}
# Help that `benchmark mbr` shares.
COMET_PYTHON = "Python of the environment that `envs/install.sh comet .venvs/comet` makes"
CHECKPOINT = "a checkpoint of unbabel-comet, instead of random weights of a shape"
# Program of the opponent: predicts the scores of the first `count` systems.
PREDICT = """
import torch
torch.set_num_threads(1)
from comet import load_from_checkpoint
checkpoint, samples = arguments
model = load_from_checkpoint(checkpoint, local_files_only=True)
model.set_embedding_cache()
with open(samples, encoding="utf-8") as file:
    systems = json.load(file)
def work(count):
    model.retrieve_sentence_embedding.cache_clear()
    return [model.predict(one, gpus=0, progress_bar=False).scores for one in systems[:count]]
"""


def run(
    rounds: int,
    comet: Annotated[Path, Option(COMET_PYTHON, "PYTHON")] = COMET,
    news: Annotated[
        Path, Option(f"folder with {NAME}.src.en, .ref.[AC].de, .hyp.*.de", "FOLDER")
    ] = NEWS,
    shape: Annotated[str, Option("shape of XLM-R", choices=SHAPES)] = "base",
    systems: Annotated[Sequence[int], Option("systems scored together", "N")] = SYSTEMS,
    segments: Annotated[
        int | None, Option("approximate number of segments, evenly spaced; default all", "N")
    ] = None,
    precision: Annotated[Sequence[str], Option("precisions of ours", choices=PRECISIONS)] = tuple(
        PRECISIONS
    ),
    model: Annotated[Path | None, Option(CHECKPOINT, "FOLDER")] = None,
    pymarian: Annotated[
        Path | None,
        Option("Python with pymarian (make opponents), a further opponent", "PYTHON"),
    ] = None,
) -> Iterator[Row]:
    """Yield segments per second for each number of systems and precision, and for one more system with the cache.

    With random weights, smaller shapes are also measured.  Raises InputError if the text is missing or unbabel-comet
    cannot run.
    """
    text, another = read_text(news, segments), read_file(news / f"{NAME}.ref.C.de", segments)
    most = max(systems)
    if most > len(text.systems):
        raise InputError(f"--systems {most}: {news} has translations of {len(text.systems)}")
    with tempfile.TemporaryDirectory() as name, one_thread():
        folder = Path(name)
        metric, what = load_measured(folder, shape, model, text)
        if not metric.network.architecture.needs_references:
            text = replace(text, references=None)
        scorers = {one: Scorer(metric, one) for one in precision}
        title = f"{what}, newstest2021 en-de, {len(text.sources):,} segments"
        with _start_comet(comet, metric, text.first(most), folder) as opponent:
            for count in systems:
                yield from _against(opponent, scorers, text.first(count), rounds, title)
        if pymarian is not None:
            with _start_pymarian(pymarian, metric, text.first(most), folder) as opponent:
                for count in systems:
                    part = text.first(count)
                    yield from _against(opponent, scorers, part, rounds, title, "pymarian-eval")
        more = replace(text, systems={**text.systems, "another": another})
        for scorer in scorers.values():
            yield _one_more(scorer, text, more, folder, rounds, title)
        paper = paper_speeds() if shape == "large" else {}
        for scorer in scorers.values() if model is None else ():
            yield from _smaller(scorer, text.first(1), rounds, title, paper)


def load_measured(folder: Path, shape: str, model: Path | None, text: Text) -> tuple[Metric, str]:
    """Load a metric, or make one with random weights and a tokenizer for the text; return it and its name in rows."""
    lines = chain(text.sources, text.references or (), *text.systems.values())
    metric = load_metric(model or write_random_checkpoint(folder / "metric", shape, lines))
    return metric, f"COMET of XLM-R's {shape} shape" if model is None else str(model)


def read_text(folder: Path, segments: int | None) -> Text:
    """Read newstest2021; segments: approximate number to keep, None for all.  Raises InputError if it is missing."""
    hypotheses = sorted(folder.glob(f"{NAME}.hyp.*.de"))
    if not hypotheses:
        raise InputError(
            f"--news {folder}: no {NAME}.hyp.SYSTEM.de; name a folder with them, or make it: "
            f"weebill fetch 'origin:news/wmt21.en-de/*'"
        )
    return Text(
        read_file(folder / f"{NAME}.src.en", segments),
        read_file(folder / f"{NAME}.ref.A.de", segments),
        {path.name.split(".")[3]: read_file(path, segments) for path in hypotheses},
    )


def read_file(path: Path, segments: int | None) -> list[str]:
    """Read the lines of a file; segments: as in `read_text`."""
    lines = list(read_lines(path))
    return lines if segments is None else lines[:: max(1, len(lines) // segments)]


def _start_comet(python: Path, metric: Metric, text: Text, folder: Path) -> Opponent:
    """Start unbabel-comet with a metric and a text.  python: from its environment.  folder: place for its files."""
    systems = []
    for lines in text.systems.values():
        columns = {"src": text.sources, "mt": lines, "ref": text.references}
        given = {name: column for name, column in columns.items() if column is not None}
        rows = zip(*given.values(), strict=True)
        systems.append([dict(zip(given, row, strict=True)) for row in rows])
    samples = folder / "samples.json"
    samples.write_text(json.dumps(systems), encoding="utf-8")
    names = {"option": "--comet", "environment": "comet"}
    return Opponent(python, PREDICT, checkpoint_of(metric), samples, folder=folder, **names)


def _start_pymarian(python: Path, metric: Metric, text: Text, folder: Path) -> Opponent:
    """Start pymarian with a metric of random weights, converted, and a text."""
    from weebill.benchmarks.metric.marian import PYMARIAN, write_marian

    vocabulary = metric.file.parents[1] / "encoder" / SENTENCEPIECE
    if not vocabulary.is_file():
        raise InputError(f"--pymarian: no {vocabulary}; leave out --model, or put it there")
    write_marian(folder / "model.npz", metric)
    systems = [
        ["\t".join(row) for row in zip(text.sources, lines, text.references, strict=True)]
        for lines in text.systems.values()
    ]
    samples = folder / "lines.json"
    samples.write_text(json.dumps(systems), encoding="utf-8")
    spm = folder / "vocab.spm"
    shutil.copyfile(vocabulary, spm)
    names = {"option": "--pymarian", "environment": "pymarian"}
    return Opponent(python, PYMARIAN, folder / "model.npz", spm, samples, folder=folder, **names)


def _against(
    opponent: Opponent,
    scorers: dict[str, Scorer],
    text: Text,
    rounds: int,
    title: str,
    name: str = OPPONENT,
) -> Iterator[Row]:
    count = len(text.systems)
    ours = {precision: partial(_score, scorer, text) for precision, scorer in scorers.items()}
    answers, rates = compete(ours, opponent, count, float(count * len(text.sources)), rounds)
    wanted = np.array(answers["opponent"])
    for precision in scorers:
        scores = np.stack([*answers[precision].values()])
        same = list(scores.mean(1).argsort()) == list(wanted.mean(1).argsort())
        yield Row.of_rounds(
            f"{title}, {count} system{'s' * (count > 1)}, {precision}, against {name}, float32; "
            f"scores differ by at most {np.abs(scores - wanted).max():.1e} (they scatter by {wanted.std():.1e}), "
            f"the ranking is {'the same' if same else 'another'}; one core",
            rates[precision],
            rates["opponent"],
            unit="segments/s",
            key=f"{title}, {count} together, {precision}"
            + ("" if name == OPPONENT else f", against {name}"),
        )


def _score(scorer: Scorer, text: Text) -> dict[str, np.ndarray]:
    return scorer.score(text.systems, text.sources, text.references)


def _one_more(scorer: Scorer, text: Text, more: Text, folder: Path, rounds: int, title: str) -> Row:
    """Compare scoring of all systems plus one: with a cache that lacks only the latter, and without a cache."""
    filled, used = (folder / f"{scorer.precision}.{name}.sqlite" for name in ("filled", "used"))

    def with_cache(file: Path, text: Text) -> None:
        scorer.sentence_vectors.cache = VectorCache(file)
        _score(scorer, text)
        scorer.sentence_vectors.cache.close()
        scorer.sentence_vectors.cache = None

    def with_copy() -> None:
        shutil.copyfile(filled, used)
        with_cache(used, more)

    with_cache(filled, text)
    works = {"cache": with_copy, "fresh": partial(_score, scorer, more)}
    amount = len(more.systems) * len(text.sources)
    rates = rates_in_turn(works, amount, rounds, clock=time.process_time)
    return Row.of_rounds(
        f"{title}, {len(more.systems)} systems of which {len(text.systems)} are in the cache, {scorer.precision}, "
        "against all of them fresh; one core",
        *rates.values(),
        unit="segments/s",
    )


def paper_speeds() -> dict[str, float]:
    """Return the speeds of the paper's smaller metrics relative to COMET's large shape (COMETINHO §4.3, §5)."""
    claims = load("cometinho_claims")
    values = dict(zip(claims["claim"], claims["value"], strict=True))
    return {
        "PRUNE": 1 / (1 - float(values["PRUNE-COMET speed improvement"]) / 100),  # time saved
        "DISTIL": float(values["DISTIL-COMET speed factor"]),
    }


def _smaller(
    scorer: Scorer, text: Text, rounds: int, title: str, paper: Mapping[str, float]
) -> Iterator[Row]:
    """Yield rows of a metric pruned like PRUNE-COMET, and one in DISTIL-COMET's shape, against the whole metric."""
    whole = scorer.metric
    pruned = deepcopy(whole.network)
    prune(pruned)
    distilled = random_network("distil", whole.network.encoder.config.vocab_size)
    scorers = {"whole": scorer} | {
        name: Scorer(replace(whole, network=network), scorer.precision)
        for name, network in (("PRUNE", pruned), ("DISTIL", distilled))
    }
    works = {name: partial(_score, one, text) for name, one in scorers.items()}
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
