"""The GPU benchmark, rehearsed on the CPU: counts compared with PyTorch's, figures, and failures."""

import json

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from weebill.__main__ import main
from weebill.benchmarks import gpu, gpu_decoding, gpu_training
from weebill.benchmarks.gpu_figures import Found, figure, rates_for_estimates
from weebill.benchmarks.gpu_opponent import MarianTraining
from weebill.benchmarks.gpu_training import Size, network_shape
from weebill.benchmarks.gpu_workload import TARGET, RandomCorpus, sentences
from weebill.configuration import rates
from weebill.report.rows import age
from weebill.translation.model.batch import make_batch
from weebill.translation.training.batches import batch_stream
from weebill.translation.training.trainer import new_network


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(gpu_training, "WARM", 0.05)
    monkeypatch.setattr(gpu_training, "WINDOW", 0.05)
    settings = {"TINY_TRAININGS": gpu.TINY_TRAININGS[1:], "TINY_DECODINGS": gpu.TINY_DECODINGS[1:]}
    for name, value in settings.items():
        monkeypatch.setattr(gpu, name, value)


@pytest.mark.parametrize("model", ["demo.teacher", "demo.micro"])
def test_operations_are_those_that_pytorch_counts(model):
    """Forward passes without attention's own products."""
    network = new_network(network_shape(model, 100), 1).eval()
    source, target = 7, 9
    batch = make_batch([[2] * (source - 1) + [0]], [[3] * (target - 1) + [0]])
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        memory = network.encode(batch.source, batch.source_mask)
        hidden = network.decode(batch.decoder_input, memory, batch.source_mask)
        network.logits(hidden)
    counts = {str(name): count for name, count in counter.get_flop_counts()["Global"].items()}
    attention = sum(count for name, count in counts.items() if "bmm" in name or "attention" in name)
    expected = sum(counts.values()) - attention
    found = Size.of(network).operations(source, target) / 3  # backward counts as two
    assert found == pytest.approx(expected, rel=1e-6)


def test_the_corpus_has_the_lengths_of_news():
    corpus = RandomCorpus(2000, 500)
    source, target = corpus.lengths("source"), corpus.lengths("target")
    assert 28 < source.mean() < 38 and target.mean() / source.mean() == pytest.approx(TARGET, 0.03)
    batch = corpus.batch(next(batch_stream(corpus, 600, seed=1)))
    ends = batch.target[np.arange(len(batch.target)), batch.target_mask.sum(1) - 1]
    assert ends.tolist() == [0] * len(ends) and batch.source.max() < 500
    assert {line[-1] for line in sentences(20, 300)} == {0}


def test_the_opponent_learns():
    """The opponent's updates lower its loss on a batch, so its labels fit its outputs."""
    torch.manual_seed(1)
    training = MarianTraining(network_shape("demo.micro", 20), "cpu", 0.0, 0.003)
    batch = make_batch([[5, 6, 7, 0], [8, 0]], [[9, 10, 0], [11, 12, 13, 0]])

    def loss():
        with torch.no_grad():
            return float(training.model(**training._inputs(batch)).loss)

    before = loss()
    for _ in range(40):
        training.update([batch])
    assert loss() < 0.3 * before


def test_a_rehearsal_ends_with_figures_and_rates(tmp_path, capsys):
    file, made = tmp_path / "gpu.json", tmp_path / "rates.json"
    options = ["--device", "cpu", "--rounds", "2", "--parts", *gpu.PARTS]
    wanted = ["--json", str(file), "--rates", str(made), "--commit", "abc"]
    assert main(["benchmark", "gpu", *options, *wanted]) == 0
    found = json.loads(file.read_text())
    assert (
        found["signature"]["commit"] == "abc" and "transformers" in found["signature"]["versions"]
    )
    assert age(file).startswith("measured by today's code (commit abc, ")
    rows = {row["part"]: row for row in found["rows"]}
    assert rows.keys() == set(gpu.PARTS)
    for part in ("training", "decoding"):
        row = rows[part]
        assert len(row["rounds"]) == len(row["other_rounds"]) == 2
        assert row["ratio"] == pytest.approx(
            np.median(row["rounds"]) / np.median(row["other_rounds"])
        )
    peak = next(row["ours"] for row in found["rows"] if row.get("precision") == "bfloat16")
    training = rows["training"]
    assert training["share"] == pytest.approx(training["operations"] / (1e12 * peak))
    shown = capsys.readouterr().out
    assert all(line in shown for line in found["table"])

    again = tmp_path / "again.json"
    assert main(["benchmark", "gpu", "--measured", str(file), "--rates", str(again)]) == 0
    assert again.read_text() == made.read_text()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[]", "x.json: holds no figures of a GPU; name a file of"),
        ('{"card": "a card"}', "x.json: holds no figures of a GPU; name a file of"),
        (
            '{"card": "", "date": "", "signature": {}, "rows": [], "failures": {}, "left_out": [], "seconds": {}}',
            "--rates: no figures of peak, training, decoding; measure these parts too",
        ),
    ],
)
def test_figures_without_rates_are_refused(tmp_path, capsys, content, told):
    (tmp_path / "x.json").write_text(content)
    files = ["--measured", str(tmp_path / "x.json"), "--rates", str(tmp_path / "rates.json")]
    assert main(["benchmark", "gpu", *files]) == 1
    assert told in capsys.readouterr().err
    assert not (tmp_path / "rates.json").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--json", "."], ".: not a plain file"),
        (["--rates", "/proc/x.json"], "/proc: no file can be made here"),
        (["--rates", "x.json", "--parts", "peak", "decoding"], "--rates: needs --parts training too"),
    ],
)  # fmt: skip
def test_what_cannot_be_written_is_told_before_the_measurement(
    tmp_path, monkeypatch, capsys, options, told
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gpu, "measure", lambda *_: pytest.fail("it measures"))
    assert main(["benchmark", "gpu", "--device", "cpu", *options]) == 1
    assert told in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_estimates_read_the_rates(tmp_path, monkeypatch):
    """Operations per second of a figure are the rate for networks of its size."""
    rows = [
        figure("peak", "a", "TFLOP/s", [4.0], precision="bfloat16"),
        figure("peak", "b", "TFLOP/s", [1.0], precision="float32"),
        figure("training", "c", "x", [1.0], weights=100, positions=10, operations=7e12),
        figure("decoding", "d", "x", [1.0], weights=100, beam=1, operations=5e12),
    ]
    file = tmp_path / "rates.json"
    found = Found("a card", "2026-11-27", {"commit": "abc"}, rows=rows)
    file.write_text(json.dumps(rates_for_estimates(found)))
    monkeypatch.setattr(rates, "MEASURED", file)
    rates._measured.cache_clear()
    card = rates.Rates.of({"accelerator": "gpu"})
    assert card.training("bfloat16", 100, 10) == 7e12
    assert card.training("float32", 100, 10) == pytest.approx(7e12 / 4)
    assert card.search(100) == 5e12
    rates._measured.cache_clear()


def test_what_fails_or_is_too_late_leaves_the_rest(monkeypatch, capsys):
    def fail(*_, **__):
        raise RuntimeError("no kernel image")

    monkeypatch.setattr(gpu_training, "measure", fail)
    found = gpu.measure("cpu", 1, 60, ["training", "decoding"])
    [(name, trace)] = found.failures.items()
    assert name.startswith("training") and "no kernel image" in trace
    assert [row["part"] for row in found.rows] == ["decoding"]
    late = gpu.measure("cpu", 1, 0, ["training", "decoding"])
    assert not late.rows and len(late.left_out) == 2


def test_an_opponent_without_memory_takes_smaller_batches_and_then_none(monkeypatch):
    """Our figures are measured in any case."""
    tried = []

    class Greedy(MarianTraining):
        def update(self, batches):
            tried.append(len(batches))
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate")

    monkeypatch.setattr(gpu_training, "MarianTraining", Greedy)
    row = gpu_training.measure("cpu", 1, gpu.TINY_TRAININGS[0], 1e12)
    assert tried == [1, gpu_training.QUARTERS]
    assert row["other"] is None and "out of memory" in row["other_failed"] and row["ours"] > 0


def test_outputs_have_the_length_that_is_promised(monkeypatch):
    """Speeds count source words, so outputs must have the promised length for these sources."""
    made = []
    real = gpu_decoding.Runtime.translate

    def translate(self, sources, options, progress=None):
        found = real(self, sources, options, progress)
        made.append((sum(map(len, sources)), sum(map(len, found))))
        return found

    monkeypatch.setattr(gpu_decoding.Runtime, "translate", translate)
    setting = gpu_decoding.Setting("demo.micro", 100, 8, 4, numbers="float32")
    gpu_decoding.measure("cpu", 1, setting)
    source, output = made[0]
    assert output == pytest.approx(TARGET * source, rel=0.1)
