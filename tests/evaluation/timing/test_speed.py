"""Speed: the timed work, its cores and its summary, for translators that sleep."""

import logging
import os
import time
from dataclasses import asdict
from functools import partial

import numpy as np
import pytest

from tests.small_models import make_folder, make_vocabulary
from weebill.errors import InputError
from weebill.evaluation.timing.speed import (
    Entrant,
    count_unspaced,
    count_words,
    fewer,
    measure_speed,
    split,
)
from weebill.files import write_json
from weebill.report.results import Results
from weebill.runtime.shortlist import save_shortlist
from weebill.runtime.text import load_runtime
from weebill.translation.loading import load_translator
from weebill.translation.model.folder import load_model
from weebill_runtime.options import SearchOptions
from weebill_runtime.shortlist import Shortlist

pytestmark = pytest.mark.usefixtures("forked_workers")


class Sleeper:
    """Translator that needs `seconds` per sentence, and checks that each thread has a core."""

    def __init__(self, seconds: float):
        self.seconds = seconds

    def translate(self, sentences, options):
        import torch

        assert torch.get_num_threads() == len(os.sched_getaffinity(0))
        time.sleep(self.seconds * len(sentences))
        return [s.upper() for s in sentences]


class Loser(Sleeper):
    """Translator that loses a sentence."""

    def translate(self, sentences, options):
        return sentences[1:]


class Insistent:
    """Translator that only works with the search options that it expects."""

    def __init__(self, expected: SearchOptions):
        self.expected = expected

    def translate(self, sentences, options):
        if options != self.expected:
            raise ValueError(f"asked for {options}")
        return sentences


TEXT = ["ein kleiner Satz", "noch ein Satz"] * 10


def test_words_a_second_are_words_by_time(caplog):
    search = SearchOptions(batch_size=2)
    entrants = [Entrant("slow", Sleeper, 0.01, search), Entrant("fast", Sleeper, 0.002, search)]
    caplog.set_level(logging.INFO)
    rows = measure_speed(entrants, TEXT, rounds=2, cores=2)
    one = {row.variant: row for row in rows if row.cores == 1}
    for name, seconds in (("slow", 0.2), ("fast", 0.04)):
        row = one[name]
        assert row.words == 60
        assert all(seconds <= taken < seconds + 0.5 for taken in row.seconds)
        assert row.slowest <= row.words_per_second <= row.fastest <= 60 / seconds
        assert (row.engine, row.by_runtime) == ("PyTorch reference", False)
    # Each round times every variant, and begins with another variant.
    told = [line.split(": ")[1] for line in caplog.messages if ", 1 x 1 cores" in line]
    one_core = [words.split(",")[0] for words in told]
    assert one_core == ["slow", "fast", "fast", "slow"]
    if len(os.sched_getaffinity(0)) > 1:
        layouts = {
            name: [(row.processes, row.threads) for row in rows if row.variant == name]
            for name in ("slow", "fast")
        }
        assert layouts == {"slow": [(1, 1), (2, 1)], "fast": [(1, 1), (2, 1), (1, 2)]}
        both = next(row for row in rows if row.variant == "slow" and row.cores == 2)
        assert min(both.seconds) < 0.95 * min(one["slow"].seconds)


class Counter(Sleeper):
    """Translator that writes one line per translation into a file."""

    def __init__(self, path):
        super().__init__(0.005)
        self.path = path

    def translate(self, sentences, options):
        with self.path.open("a") as file:
            file.write(f"{len(sentences)}\n")
        return super().translate(sentences, options)


def test_a_short_text_is_translated_again_until_the_time_is_long_enough(tmp_path):
    """The first pass shows that a pass takes 0.1 s or more, so 0.5 s need 3 to 5 passes; the mean is per pass."""
    entrants = [Entrant("a", Counter, tmp_path / "log", SearchOptions(batch_size=2))]
    (row,) = measure_speed(entrants, TEXT, rounds=1, cores=1, least_seconds=0.5)
    warm, *passes = (tmp_path / "log").read_text().split()
    assert warm == "2" and set(passes) == {"20"} and 4 <= len(passes) <= 6
    assert 0.1 <= row.seconds[0] < 0.2
    assert row.words_per_second == 60 / row.seconds[0]


def test_every_option_of_the_search_reaches_the_translator():
    beam = SearchOptions(beam=6, length_normalisation=0.6, max_source_tokens=3, batch_size=5)
    entrants = [
        Entrant("beam", Insistent, beam, beam),
        Entrant("greedy", Insistent, SearchOptions(), SearchOptions()),
    ]
    rows = measure_speed(entrants, TEXT, rounds=1, cores=1)
    assert [(row.beam, row.batch_size) for row in rows] == [(6, 5), (1, 32)]


class Compiled(Sleeper):
    """Stand-in for the runtime's translator, which is given its number of threads."""

    def __init__(self, seconds: float, threads: int = 1):
        super().__init__(seconds)
        assert threads == len(os.sched_getaffinity(0))

    isa = "vnni"
    shortlist = None


def test_engines_are_told_apart_and_each_one_s_fastest_has_threads_too(tmp_path):
    search = SearchOptions(batch_size=2)
    entrants = [
        Entrant("x", Compiled, 0.001, search),
        Entrant("y", Compiled, 0.003, search),
        Entrant("x", Sleeper, 0.002, search),
    ]
    rows = measure_speed(entrants, TEXT, rounds=1, cores=2)
    engines = ["Weebill runtime (vnni)", "PyTorch reference"]
    assert list(dict.fromkeys(row.engine for row in rows)) == engines
    if len(os.sched_getaffinity(0)) > 1:
        threaded = [(row.variant, row.engine) for row in rows if row.threads == 2]
        assert threaded == [("x", engine) for engine in engines]
    ours, reference = (next(row for row in rows if row.engine == name) for name in engines)
    assert ours.words_per_second > reference.words_per_second
    write_json(tmp_path / "speed.json", [asdict(row) for row in rows])
    results = Results.read({"kind": "translation"}, {"speeds": [tmp_path / "speed.json"]})
    assert results.speeds == rows


def test_students_are_timed_by_the_runtime_and_by_pytorch(tmp_path):
    """Both engines translate with a real folder, in workers, to the end."""
    folder = make_folder(tmp_path / "model", make_vocabulary(tmp_path / "vocab.spm"))
    search = SearchOptions(batch_size=4)
    entrants = [
        Entrant("student", load_runtime, folder, search),
        Entrant("student", load_translator, [folder], search),
    ]
    pieces = len(load_model(folder).vocabulary)
    every = np.tile(np.arange(2, pieces, dtype=np.int32), (pieces, 1))
    save_shortlist(Shortlist(every, every[0, :2]), tmp_path / "shortlist.safetensors")
    listed = partial(load_runtime, shortlist=tmp_path / "shortlist.safetensors")
    entrants.append(Entrant("student", listed, folder, search))
    rows = measure_speed(entrants, TEXT, rounds=1, cores=1)
    assert [row.by_runtime for row in rows] == [True, False, True]
    assert rows[2].engine == rows[0].engine.replace(")", ", shortlist)")
    assert {row.words for row in rows} == {60}


def test_ways_to_share_out_cores():
    assert fewer(1) == []
    assert fewer(2) == [1]
    assert fewer(8) == [4, 2, 1]
    assert fewer(6) == [3, 2, 1]


def test_the_text_is_split_whole_and_in_order():
    pieces = split(list("abcdefg"), 3)
    assert pieces == [["a", "b", "c"], ["d", "e"], ["f", "g"]]
    assert split(["a"], 2) == [["a"], []]


def test_a_lost_sentence_is_an_error():
    bad = Entrant("bad", Loser, 0, SearchOptions(batch_size=4))
    with pytest.raises(InputError, match=r"speed of bad: .*19 translations of 20"):
        measure_speed([bad], TEXT, rounds=1, cores=1)


def test_no_text_is_an_error():
    with pytest.raises(InputError, match="no words"):
        measure_speed([], ["", " "], rounds=1, cores=1)


def test_words_and_characters_of_any_script():
    assert (count_words(["Two words,", "more  here"]), count_unspaced(["Two words"])) == (4, 0)
    assert (count_words(["我们走。", "好"]), count_unspaced(["我们 昨天走了。", "好"])) == (4, 8)
    assert count_unspaced(["오늘은 좋네요.", "हिन्दी में"]) == 0
