"""Decoding speed on a device: our searches against transformers' generate with a model of the same shape.

Sentences and weights are random.  No sentence ends by itself; an output has 1.1 times the pieces of its source.
Splitting into pieces is not timed.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from weebill.benchmarks.gpu_figures import figure
from weebill.benchmarks.gpu_opponent import generate, marian
from weebill.benchmarks.gpu_training import Size, network_shape
from weebill.benchmarks.gpu_workload import (
    PIECES_A_WORD,
    TARGET,
    seconds,
    sentences,
)
from weebill.evaluation.timing.timer import in_turn
from weebill.kernels.cuda import freed, set_gpu_defaults
from weebill.kernels.extension import PORTABLE
from weebill.runtime.translator import Runtime
from weebill.translation.search import search
from weebill.translation.training.trainer import new_network
from weebill_runtime.options import SearchOptions

NEVER = -1e4  # bias of a piece that no output may contain; in the range of float16
PIECES = 10**7  # limit of a batch, so large that no batch is split


@dataclass(frozen=True)
class Setting:
    """Search to measure: network of the zoo, sentences in total and per batch, beam, and type of numbers.

    batch: None if the search chooses it.  opponent: number of sentences that generate translates; 0 leaves it out.
    """

    model: str
    pieces: int
    sentences: int
    batch: int | None
    beam: int = 1
    numbers: str = "float16"
    opponent: int = 0

    @property
    def name(self) -> str:
        how = "greedy" if self.beam == 1 else f"beam {self.beam}"
        batch = "of its own" if self.batch is None else self.batch
        return f"decoding {self.model}, {how}, {self.numbers}, batch {batch}"


def measure(device: str, rounds: int, setting: Setting) -> dict[str, Any]:
    """Return the source words per second of our search, and of generate if the setting has it."""
    if device.startswith("cuda"):
        set_gpu_defaults()
    shape, dtype = network_shape(setting.model, setting.pieces), getattr(torch, setting.numbers)
    given = sentences(setting.sentences, setting.pieces)
    network = new_network(shape, 1).eval()
    size = Size.of(network)
    with torch.no_grad():
        network.output.bias[0] = NEVER
    with freed(device):
        network = network.to(device, dtype)
        options = SearchOptions(
            beam=setting.beam,
            length_factor=TARGET,
            length_constant=0,
            batch_size=setting.batch,
            batch_tokens=PIECES,
            allow_unknown=True,
        )
        if setting.beam == 1:
            ours = partial(Runtime([network], PORTABLE).translate, given, options)
        else:
            ours = partial(search, [network], given, options)
        works = {"ours": partial(_rate, ours, _words(given), device)}
        if setting.opponent:
            model = marian(shape, device).eval().to(dtype)
            model.final_logits_bias[0, 0] = NEVER
            some = given[:: max(1, len(given) // setting.opponent)]
            theirs = partial(generate, model, some, setting.batch, TARGET, num_beams=setting.beam)
            works["other"] = partial(_rate, theirs, _words(some), device)
        found = in_turn(works, rounds, uncounted=1)
    source = _words(given) * PIECES_A_WORD
    each = 2.0 * (size.encoder + setting.beam * TARGET * size.decoder) * source / _words(given)
    own = figure(
        "decoding",
        setting.name,
        "words/s",
        found["ours"],
        found.get("other", ()),
        weights=size.encoder + size.decoder,
        beam=setting.beam,
        batch=setting.batch,
        precision=setting.numbers,
    )
    return own | {"operations": each * own["ours"]}


def _words(given: list[list[int]]) -> float:
    return sum(map(len, given)) / PIECES_A_WORD


def _rate(work, words: float, device: str) -> float:
    return words / seconds(work, device)
