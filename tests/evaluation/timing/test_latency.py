"""Latency, loading and memory: timed parts and their processes, with translators that sleep or use memory."""

import logging
import os
import time
from dataclasses import asdict

import numpy as np
import pytest

from weebill.errors import InputError
from weebill.evaluation.timing.latency import measure_latency, milliseconds
from weebill.evaluation.timing.speed import Entrant
from weebill.files import write_json
from weebill.report.results import Results
from weebill_runtime.options import SearchOptions

pytestmark = pytest.mark.usefixtures("forked_workers")
TEXT = ["a short one", "one that is longer", "the longest of all of them", "short too"]


class Sleeper:
    """Translator that loads in 50 ms and needs 5 ms per word, for a sentence or a whole batch."""

    isa = "imagined"
    shortlist = None

    def __init__(self, seconds):
        time.sleep(0.05)
        self.seconds = seconds

    def translate(self, sentences, options):
        assert len(os.sched_getaffinity(0)) == 1
        assert len(sentences) <= options.batch_size
        time.sleep(sum(self.seconds * len(sentence.split()) for sentence in sentences))
        return sentences


class Hoarder(Sleeper):
    """Translator that uses 200 MiB for a batch, and frees them."""

    def translate(self, sentences, options):
        if len(sentences) > 1:
            np.ones(200 * 2**20, dtype=np.uint8).sum()
        return sentences


class Loser(Sleeper):
    """Translator that fails on long sentences."""

    def translate(self, sentences, options):
        raise InputError("no such sentence")


def test_each_sentence_is_timed_alone(tmp_path, caplog):
    entrants = [
        Entrant("slow", Sleeper, 0.005, SearchOptions(batch_size=2)),
        Entrant("hoarding", Hoarder, 0, SearchOptions(beam=4, batch_size=2)),
    ]
    caplog.set_level(logging.INFO)
    slow, hoarding = measure_latency(entrants, TEXT)
    assert (slow.variant, slow.engine) == ("slow", "Weebill runtime (imagined)")
    assert slow.sentences == 4
    assert 15 <= slow.mean_ms < 100  # 3, 4, 6 and 2 words
    assert 10 <= slow.p50_ms <= slow.p95_ms <= slow.p99_ms
    assert slow.p99_ms >= 29
    assert 0.05 <= slow.load_seconds < 1
    assert hoarding.beam == 4
    assert hoarding.peak_mib - slow.peak_mib > 150
    assert hoarding.idle_mib < hoarding.peak_mib - 150
    assert len(caplog.messages) == 2
    write_json(tmp_path / "latency.json", [asdict(slow), asdict(hoarding)])
    results = Results.read({"kind": "translation"}, {"latencies": [tmp_path / "latency.json"]})
    assert results.latencies == [slow, hoarding]


def test_percentiles_are_those_of_the_times():
    found = milliseconds([0.001 * number for number in range(1, 102)])
    assert found == pytest.approx({"mean": 51, "p50": 51, "p95": 96, "p99": 100})


def test_what_fails_is_named():
    with pytest.raises(InputError, match="latency of bad: no such sentence"):
        measure_latency([Entrant("bad", Loser, 0, SearchOptions())], TEXT)
    with pytest.raises(InputError, match="no sentence"):
        measure_latency([], [])
