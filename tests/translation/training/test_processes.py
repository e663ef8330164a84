"""Training in several processes, as on several devices, and in a separate process."""

import time
from dataclasses import replace
from types import SimpleNamespace

import psutil
import pytest
import torch

from tests.forking import fork, run_in_fork
from tests.translation.conftest import sentence_pairs, small_architecture
from tests.translation.training.small_training import CONFIG, run
from tests.translation.training.two_devices import forked
from weebill.errors import InputError
from weebill.translation.model.batch import make_batch
from weebill.translation.training import pruning_study, trainer
from weebill.translation.training.loss import batch_loss
from weebill.translation.training.pruning_study import train_separately
from weebill.translation.training.trainer import Hardware, new_network, train


@pytest.fixture
def on_slurm(monkeypatch):
    """Set the environment of processes that Snakemake's jobs start on Slurm: srun -n1."""
    found = {"JOB_ID": 4711, "JOB_NAME": "job", "NNODES": 1, "NODELIST": "localhost"}
    found |= {"NTASKS": 1, "PROCID": 0, "LOCALID": 0, "NODEID": 0}
    for name, value in found.items():
        monkeypatch.setenv(f"SLURM_{name}", str(value))


def loss(network, vocabulary):
    """Return the cross-entropy per target word of the whole grammar."""
    ids = [vocabulary.encode(list(side)) for side in zip(*sentence_pairs(), strict=True)]
    batch = make_batch(*ids)
    with torch.no_grad():
        return float(batch_loss(network.eval(), batch, batch.words))


@pytest.mark.slurm
def test_a_job_of_slurm_trains_on_all_its_devices(tmp_path, corpus, vocabulary, on_slurm):
    """Two processes over gloo make the same updates as one: after 100 updates, the losses are equal."""
    config = replace(CONFIG, updates=100, validate_every=101, checkpoint_every=100)
    config = replace(config, learning_rate=0.004, warmup=20, dropout=0.0, smoothing=0.0)
    one, _ = run(corpus, vocabulary, tmp_path / "one", replace(config, accumulate=2))
    two = new_network(small_architecture(len(vocabulary)), seed=1)
    before = loss(two, vocabulary)
    train_separately(
        two, [corpus], corpus, vocabulary, config,
        seed=5, work=tmp_path / "two", hardware=Hardware(devices=2),
    )  # fmt: skip
    assert loss(two, vocabulary) < before / 2, "too little was learnt to compare"
    assert loss(two, vocabulary) == pytest.approx(loss(one, vocabulary), rel=0, abs=1e-5)


def test_two_devices_that_accumulate_train_as_one(tmp_path, corpus, vocabulary, monkeypatch):
    """Two processes over gloo with two batches each equal one process with the same four; steps are plain SGD."""
    monkeypatch.setattr(pruning_study, "subprocess", SimpleNamespace(run=forked))
    descend = lambda groups, **options: torch.optim.SGD(groups, lr=options["lr"])  # noqa: E731
    monkeypatch.setattr(torch.optim, "Adam", descend)
    config = replace(CONFIG, batch_tokens=100, updates=3, validate_every=4, smoothing=0.0)
    config = replace(config, learning_rate=20.0, warmup=1, dropout=0.0)
    trained = []
    for devices, run_training in ((1, train), (2, train_separately)):
        network = new_network(small_architecture(len(vocabulary)), seed=1)
        before = network.embedding.weight.detach().clone()
        run_training(
            network, [corpus], corpus, vocabulary, replace(config, accumulate=4 // devices),
            seed=5, work=tmp_path / str(devices), hardware=Hardware(devices=devices),
        )  # fmt: skip
        trained.append(network.state_dict())
    assert (network.embedding.weight - before).abs().max() > 0.1, "too little was learnt"
    torch.testing.assert_close(*trained, rtol=1e-4, atol=1e-4)


def test_two_devices_end_together_when_patience_ends(tmp_path, corpus, vocabulary, monkeypatch):
    """The first rank validates in another thread; the second one learns the score in the same update."""
    monkeypatch.setattr(pruning_study, "subprocess", SimpleNamespace(run=forked))
    config = replace(CONFIG, learning_rate=1e-9, validate_every=2, patience=2, updates=500)
    network = new_network(small_architecture(len(vocabulary)), seed=1)
    course = train_separately(
        network, [corpus], corpus.with_name("validation.parquet"), vocabulary, config,
        seed=5, work=tmp_path, hardware=Hardware("rehearsal", devices=2),
    )  # fmt: skip
    assert course.updates == 8
    assert [row["update"] for row in course.history] == [2, 4, 6]


@pytest.mark.parametrize("scheduler", ["on_slurm", "monkeypatch"])  # monkeypatch: no scheduler
def test_processes_that_nothing_starts_are_not_waited_for(
    tmp_path, corpus, vocabulary, request, scheduler
):
    request.getfixturevalue(scheduler)
    with pytest.raises(InputError, match="2 devices on 2 nodes need 4 processes"):
        run(corpus, vocabulary, tmp_path, hardware=Hardware(devices=2, nodes=2))


@pytest.mark.parametrize("rank", ["0", "1"])
def test_ranks_that_the_first_one_starts_end_with_it(
    tmp_path, corpus, vocabulary, monkeypatch, rank
):
    class EncodedError(Exception):
        pass

    def encode(*_):
        raise EncodedError

    watched = []
    monkeypatch.setenv("LOCAL_RANK", rank)
    monkeypatch.setattr(trainer, "end_with_parent", lambda: watched.append(rank))
    monkeypatch.setattr(trainer, "shared_corpus", encode)
    with pytest.raises(EncodedError):
        run(corpus, vocabulary, tmp_path, hardware=Hardware(devices=2))
    assert watched == ["1"] * (rank == "1")


@pytest.fixture
def separate_forks(monkeypatch):
    """Make `train_separately` start forks; the test on two devices lets it start Python."""
    monkeypatch.setattr(pruning_study, "subprocess", SimpleNamespace(run=run_in_fork))


@pytest.mark.usefixtures("separate_forks")
def test_bad_input_of_a_training_in_a_process_of_its_own_is_told(tmp_path, corpus, vocabulary):
    """The error is the line about the input, not one about a failed command."""
    network = new_network(small_architecture(len(vocabulary)), seed=1)
    with pytest.raises(InputError, match="2 devices on 2 nodes need 4 processes"):
        train_separately(
            network, [corpus], corpus, vocabulary, CONFIG,
            seed=5, work=tmp_path, hardware=Hardware(devices=2, nodes=2),
        )  # fmt: skip


@pytest.mark.usefixtures("separate_forks")
def test_a_training_in_a_process_of_its_own_ends_with_the_job(tmp_path, corpus, vocabulary):
    def endless():
        network = new_network(small_architecture(len(vocabulary)), seed=1)
        config = replace(CONFIG, updates=1_000_000, validate_every=1_000_000)
        options = {"seed": 5, "work": tmp_path, "hardware": Hardware()}
        train_separately(network, [corpus], corpus, vocabulary, config, **options)

    parent, deadline = fork(endless), time.monotonic() + 60
    while not list(tmp_path.rglob("*.ckpt")) and time.monotonic() < deadline:
        time.sleep(0.05)
    (training,) = psutil.Process(parent.pid).children()
    parent.kill()
    parent.join()
    try:
        training.wait(timeout=10)
    finally:
        if training.is_running():
            training.kill()
