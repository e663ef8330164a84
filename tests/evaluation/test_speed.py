"""Speed: what is timed, where and how it is summarised, with translators that sleep."""

import os
import time

import pytest

from goldcrest.errors import InputError
from goldcrest.evaluation.speed import Entrant, measure_speed, split


class Sleeper:
    """Takes `seconds` for each sentence, and insists on one core and one thread."""

    def __init__(self, seconds: float):
        self.seconds = seconds

    def translate(self, sentences, options):
        import torch

        assert len(os.sched_getaffinity(0)) == 1
        assert torch.get_num_threads() == 1
        time.sleep(self.seconds * len(sentences))
        return [s.upper() for s in sentences]


class Loser(Sleeper):
    """Loses a sentence."""

    def translate(self, sentences, options):
        return sentences[1:]


TEXT = ["ein kleiner Satz", "noch ein Satz"] * 10


def test_words_a_second_are_words_by_time():
    entrants = [Entrant("slow", Sleeper, 0.01), Entrant("fast", Sleeper, 0.002)]
    lines = []
    rows = measure_speed(entrants, TEXT, rounds=2, batch_size=2, cores=2, report=lines.append)
    one = {row.variant: row for row in rows if row.cores == 1}
    for name, seconds in (("slow", 0.2), ("fast", 0.04)):
        row = one[name]
        assert row.words == 60
        assert all(seconds <= taken < seconds + 0.5 for taken in row.seconds)
        assert row.slowest <= row.words_per_second <= row.fastest <= 60 / seconds
        assert row.engine == "PyTorch reference"
    # Interleaved: each round times every variant, and begins with another one.
    one_core = [line.split(": ")[1].split(",")[0] for line in lines if ", 1 cores" in line]
    assert one_core == ["slow", "fast", "fast", "slow"]
    if len(os.sched_getaffinity(0)) > 1:
        both = next(row for row in rows if row.variant == "slow" and row.cores == 2)
        assert min(both.seconds) < 0.95 * min(one["slow"].seconds)


def test_the_text_is_split_whole_and_in_order():
    pieces = split(list("abcdefg"), 3)
    assert pieces == [["a", "b", "c"], ["d", "e"], ["f", "g"]]
    assert split(["a"], 2) == [["a"], []]


def test_a_lost_sentence_is_an_error():
    with pytest.raises(InputError, match=r"speed of bad: .*19 translations of 20"):
        measure_speed([Entrant("bad", Loser, 0)], TEXT, rounds=1, batch_size=4, cores=1)


def test_no_text_is_an_error():
    with pytest.raises(InputError, match="no words"):
        measure_speed([], ["", " "], rounds=1, batch_size=4, cores=1)
