"""Minimum Bayes risk by a COMET model against mbrs, with the same checkpoint (random weights, or given), on one core.

Candidates are newstest2021's system translations, with words omitted or swapped, to differ like samples of a model;
all candidates are also references.  Rates count processor time of both processes, without starts.
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

from weebill.benchmarks import Option, Row
from weebill.benchmarks.metric import (
    CHECKPOINT,
    COMET,
    COMET_PYTHON,
    NEWS,
    load_measured,
    read_text,
)
from weebill.benchmarks.metric.checkpoint import SHAPES, checkpoint_of
from weebill.benchmarks.opponent import Opponent, compete
from weebill.evaluation.timing.timer import one_thread
from weebill.metric.mbr import MetricUtility, decode
from weebill.metric.reader import PRECISIONS
from weebill.metric.scorer import Scorer

Task = Sequence[tuple[str, list[str]]]  # sources, each with its candidates
CANDIDATES = (100, 200)
SOURCES = 2
SMALLEST = {"candidates": (50,), "sources": 1}
# Program of the opponent: chooses one of the candidates for each source.
MBRS = """
import torch
torch.set_num_threads(1)
import mbrs.metrics.comet as metric
from mbrs.decoders import DecoderMBR
metric.download_model = lambda path: path  # it is here
load = metric.load_from_checkpoint
metric.load_from_checkpoint = lambda path: load(path, local_files_only=True)
[checkpoint] = arguments
comet = metric.MetricCOMET(metric.MetricCOMET.Config(model=checkpoint, cpu=True))
decoder = DecoderMBR(DecoderMBR.Config(), comet)
def work(task):
    return [decoder.decode(some, some, source).sentence[0] for source, some in task]
"""


def run(
    rounds: int,
    mbrs: Annotated[Path, Option(COMET_PYTHON, "PYTHON")] = COMET,
    news: Annotated[Path, Option("same as in `benchmark metric`", "FOLDER")] = NEWS,
    shape: Annotated[str, Option("shape of XLM-R", choices=SHAPES)] = "base",
    candidates: Annotated[Sequence[int], Option("candidates of each source", "N")] = CANDIDATES,
    sources: Annotated[int, Option("sources of each round", "N")] = SOURCES,
    model: Annotated[Path | None, Option(CHECKPOINT, "FOLDER")] = None,
) -> Iterator[Row]:
    """Yield sources per second by number of candidates and precision.  Raises InputError without text or mbrs."""
    text = read_text(news, sources)
    every = replace(text, references=None, systems={**text.systems, "reference": text.references})
    with tempfile.TemporaryDirectory() as name, one_thread():
        folder = Path(name)
        metric, what = load_measured(folder, shape, model, text)
        utilities = {one: MetricUtility(Scorer(metric, one)) for one in PRECISIONS}
        names = {"option": "--mbrs", "environment": "comet"}
        with Opponent(mbrs, MBRS, checkpoint_of(metric), folder=folder, **names) as opponent:
            for count in candidates:
                task = every.candidates(sources, count)
                yield from _against(opponent, utilities, task, rounds, what)


def _against(
    opponent: Opponent, utilities: dict[str, MetricUtility], task: Task, rounds: int, what: str
) -> Iterator[Row]:
    def choose(utility: MetricUtility) -> list[str]:
        utility.prepare()  # forget the sentences encoded in the last round
        return [decode(source, some, utility)[0].text for source, some in task]

    ours = {name: partial(choose, utility) for name, utility in utilities.items()}
    answers, rates = compete(ours, opponent, task, float(len(task)), rounds)
    for precision in utilities:
        pairs = zip(answers[precision], answers["opponent"], strict=True)
        same = sum(one == another for one, another in pairs)
        yield Row.of_rounds(
            f"MBR by {what}, {len(task[0][1])} candidates of newstest2021 en-de, "
            f"{precision}, against mbrs, float32; {same} of {len(task)} choices are the same; one core",
            rates[precision],
            rates["opponent"],
            unit="sources/s",
            key=f"{what}, {len(task[0][1])} candidates, {precision}",
        )
