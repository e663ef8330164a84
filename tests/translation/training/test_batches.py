"""Batches: no lost sentences, budgets, any starting point, no drift of lengths; stages and their borders."""

from collections import Counter
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tests.translation.conftest import sentence_pairs, small_architecture
from tests.translation.training.small_training import rising_scores
from weebill.corpus.table import write_table
from weebill.errors import InputError
from weebill.translation.training.batches import batch_stream, last_begins, staged_batches
from weebill.translation.training.checkpoints import Checkpoints
from weebill.translation.training.encoding import encode_corpus
from weebill.translation.training.settings import Stage, TrainingConfig
from weebill.translation.training.trainer import new_network, tensors_hash, train
from weebill.translation.training.validation import GreedyValidation


class Lengths:
    """Stand-in for a corpus, with lengths only."""

    def __init__(self, source, target):
        self._lengths = {"source": source, "target": target}

    def __len__(self):
        return len(self._lengths["source"])

    def lengths(self, side):
        return self._lengths[side]


@pytest.fixture
def lengths():
    generator = np.random.default_rng(0)
    return Lengths(generator.integers(2, 40, 5000), generator.integers(2, 40, 5000))


def epoch_of(corpus, budget, seed):
    seen, batches = 0, []
    for rows in batch_stream(corpus, budget, seed):
        if seen == len(corpus):
            return batches
        seen += len(rows)
        batches.append(rows)


def test_an_epoch_holds_every_pair_once_within_the_budget(lengths):
    batches = epoch_of(lengths, 600, seed=1)
    assert sorted(np.concatenate(batches)) == list(range(5000))
    source, target = lengths.lengths("source"), lengths.lengths("target")
    sizes = [len(rows) * (source[rows].max() + target[rows].max()) for rows in batches]
    assert max(sizes) <= 600
    real = (source + target).sum()
    assert real / sum(sizes) > 0.75  # little padding, although lengths are independent


def test_lengths_are_not_sorted_over_time(lengths):
    means = [lengths.lengths("target")[rows].mean() for rows in epoch_of(lengths, 600, seed=1)]
    assert abs(np.corrcoef(np.arange(len(means)), means)[0, 1]) < 0.15


def test_a_stream_that_starts_later_is_the_rest_of_the_stream(lengths):
    whole = list(islice(batch_stream(lengths, 600, seed=2), 700))  # over an epoch
    for first in (1, 57, 400):
        rest = islice(batch_stream(lengths, 600, seed=2, first=first), 700 - first)
        assert all(np.array_equal(a, b) for a, b in zip(whole[first:], rest, strict=True))
    assert not np.array_equal(whole[0], next(batch_stream(lengths, 600, seed=3)))


STAGES = (
    Stage(updates=11, copies={"web": 0}),
    Stage(updates=9, copies={"news": 3}, augmented=False),
    Stage(copies={"web": 2, "news": 0}),
)


CONFIG = TrainingConfig(
    batch_tokens=300, updates=14, learning_rate=0.01, warmup=5, validate_every=7, patience=0,
    checkpoint_every=4, smoothing=0.01, dropout=0.1,
    stages=(replace(STAGES[0], updates=5), replace(STAGES[1], updates=4), STAGES[2]),
)  # fmt: skip


@pytest.fixture
def table(tmp_path):
    """Write rows 0 to 39 of news and 40 to 63 of the web; augmentation added every fourth row."""
    sources, targets = zip(*sentence_pairs(), strict=True)
    path = tmp_path / "staged.parquet"
    columns = {
        "source": sources,
        "target": targets,
        "corpus": ["news"] * 40 + ["web"] * 24,
        "augmented_by": [None if row % 4 else "typos" for row in range(64)],
    }
    write_table(path, pa.table(columns))
    return path


@pytest.fixture
def encoded(tmp_path, table, vocabulary):
    return encode_corpus([table], vocabulary, tmp_path / "encoded", 50, grouped=True)


def epoch(stream, rows):
    """Count each row in the first batches of a stream, until they have `rows` rows."""
    seen = Counter()
    while seen.total() < rows:
        seen.update(next(stream).tolist())
    return seen


def test_an_epoch_of_a_stage_holds_what_it_says(encoded):
    def of(stage, rows):
        return epoch(staged_batches(encoded, [stage], 100, seed=3), rows)

    assert of(Stage(), 64) == Counter(range(64))
    assert of(Stage(augmented=False), 48) == Counter(row for row in range(64) if row % 4)
    assert of(Stage(copies={"news": 0}), 24) == Counter(range(40, 64))
    doubled = of(Stage(copies={"news": 2, "unknown": 5}), 104)
    assert doubled == Counter([*range(40), *range(40), *range(40, 64)])


def test_stages_follow_each_other_at_their_updates(encoded):
    """Borders are at their updates for any start of the stream; the first stage has the order without stages."""
    whole = list(islice(staged_batches(encoded, STAGES, 100, seed=3, per_update=2), 80))
    assert last_begins(STAGES) == 20
    news, web = set(range(40)), set(range(40, 64))
    assert set(np.concatenate(whole[:22])) <= news
    assert all(row % 4 for row in np.concatenate(whole[22:40]))
    assert set(np.concatenate(whole[22:40])) & web
    assert set(np.concatenate(whole[40:])) == web
    for first in (1, 10, 11, 12, 20, 31):
        rest = list(islice(staged_batches(encoded, STAGES, 100, 3, 2, first), 80 - 2 * first))
        assert all(map(np.array_equal, whole[2 * first :], rest))
    plain = islice(batch_stream(encoded, 100, seed=3), 22)
    every = islice(staged_batches(encoded, [Stage(updates=11), Stage()], 100, 3, 2), 44)
    assert all(map(np.array_equal, plain, every))
    again = islice(batch_stream(encoded, 100, seed=3), 22)
    assert not all(map(np.array_equal, again, every))  # the second stage has its own order


def test_a_stage_without_rows_is_one_error_before_the_first_stage(encoded):
    empty = [Stage(updates=1000), Stage(copies={"news": 0, "web": 0})]
    with pytest.raises(InputError, match=r"training.stages\[1\]: leaves no pair"):
        next(staged_batches(encoded, empty, 100, seed=3))


def test_text_that_tells_no_corpora_is_refused(tmp_path, corpus, vocabulary):
    with pytest.raises(InputError, match=r"corpus\.parquet: tells no corpora apart"):
        encode_corpus([corpus], vocabulary, tmp_path / "encoded", 50, grouped=True)


def run(table, vocabulary, work, config=CONFIG):
    network = new_network(small_architecture(len(vocabulary)), seed=1, dropout=config.dropout)
    with rising_scores():
        result = train(network, [table], table, vocabulary, config, seed=5, work=work)
    return tensors_hash(network.state_dict()), result


class Interrupted(Exception):
    """Error that ends a training as a kill does."""


def test_interrupted_in_every_stage_it_ends_in_the_same_weights(
    tmp_path, table, vocabulary, monkeypatch
):
    """Interruptions also come at the last update of a stage and the first of the next."""
    expected, undisturbed = run(table, vocabulary, tmp_path / "undisturbed")
    hook, left = Checkpoints.on_train_batch_end, [4, 5, 6, 9, 10, 12]

    def interrupted(self, trainer, *arguments):
        hook(self, trainer, *arguments)
        if left and trainer.global_step == left[0]:
            left.pop(0)
            raise Interrupted

    monkeypatch.setattr(Checkpoints, "on_train_batch_end", interrupted)
    while left:
        with pytest.raises(Interrupted):
            run(table, vocabulary, tmp_path / "interrupted")
    assert run(table, vocabulary, tmp_path / "interrupted") == (expected, undisturbed)
    other, _ = run(table, vocabulary, tmp_path / "unstaged", replace(CONFIG, stages=()))
    assert other != expected


def test_patience_waits_for_the_last_stage(tmp_path):
    """Two validations without progress end a training only if both belong to the last stage."""

    def in_vain(scores, patient_from):
        config = TrainingConfig(patience=2)
        validation = GreedyValidation([], [], None, config, Path(tmp_path), patient_from)
        validation.history = [
            {"update": 10 * (place + 1), "bleu": bleu} for place, bleu in enumerate(scores)
        ]
        return validation._in_vain()

    assert in_vain([], 0) == 0
    assert in_vain([5, 4, 3], 0) == 2
    assert in_vain([5, 4, 3], 20) == 1
    assert in_vain([5, 4, 3, 2], 20) == 2
    assert in_vain([5, 4, 6, 2], 10) == 1


def test_stages_are_plain_values_too():
    plain = [{"updates": 11, "copies": {"web": 0}}, {}]
    assert TrainingConfig(stages=plain).stages == (Stage(11, {"web": 0}), Stage())
