"""`weebill benchmark runtime`: hand-counted shapes, the work of both engines, and refused options."""

import itertools
import json
from dataclasses import replace

import pytest

from weebill.__main__ import main
from weebill.benchmarks import runtime
from weebill.benchmarks.runtime import engines, measures, pruned
from weebill.benchmarks.runtime.engines import (
    Case,
    in_batches,
    random_network,
    random_shortlist,
    sentences,
    with_attention,
    words,
)
from weebill.evaluation.this_process import usable_cores
from weebill.evaluation.timing.processes import Worker
from weebill.kernels import extension
from weebill.kernels.extension import NEEDS, PORTABLE, available
from weebill.runtime.translator import Runtime
from weebill_runtime.architecture import Architecture, LayerShape
from weebill_runtime.options import SearchOptions

LAYER = LayerShape(heads=2, head_size=16, feed_forward=32)
SHAPE = Architecture(300, 32, (LAYER, LAYER), (LAYER,), 2)
ISA = [*available(), PORTABLE][0]


@pytest.fixture
def quickly(monkeypatch):
    monkeypatch.setattr(measures, "TRIAL", 8)
    monkeypatch.setattr(measures, "BATCHES", (4, 8))
    fastest = {"CT2_FORCE_CPU_ISA": "AVX2", "CT2_USE_MKL": "0"}
    monkeypatch.setattr(measures, "opponents_settings", lambda isa: [fastest])
    measures.best_settings.cache_clear()
    yield
    measures.best_settings.cache_clear()


@pytest.fixture
def in_this_process(monkeypatch):
    """Run the workers' calls in this process, because starting a process takes seconds."""

    def start(worker, work, *arguments):
        if isinstance(work, str):
            worker.result = getattr(worker.kept, work)(*arguments)
        else:
            worker.kept, worker.result = work(*arguments), None

    monkeypatch.setattr(Worker, "__init__", lambda worker, cores, threads=1, variables=None: None)
    monkeypatch.setattr(Worker, "start", start)
    monkeypatch.setattr(Worker, "answer", lambda worker: worker.result)
    monkeypatch.setattr(Worker, "__exit__", lambda worker, *_: None)


def test_the_opponent_translates_in_a_process_of_its_own():
    settings = {"CT2_FORCE_CPU_ISA": "AVX2", "CT2_USE_MKL": "0"}
    with engines.Opponent(Case(SHAPE), settings) as opponent:
        opponent.prepare(sentences(SHAPE.vocabulary, 5), 2)
        assert len(opponent.translate()) == 3
        assert str(opponent) == (
            "CTranslate2 with a self-attention decoder (AVX2, oneDNN, batch 2)"
        )


def test_every_subject_measures(quickly, in_this_process, monkeypatch):
    shape = replace(SHAPE, encoder=(LAYER,) * 2)
    half = replace(shape, encoder=(replace(LAYER, heads=1, feed_forward=8),) * 2)
    cut = pruned.Cut("half", half, {"float32": 1.5, "int8": 2.0})
    monkeypatch.setattr(measures, "cuts", lambda name, full: [cut])
    rows = {name: runtime.SUBJECTS[name]("small", shape, ISA, 12, 2) for name in runtime.USUAL}
    assert len(rows["throughput"]) == 3
    assert [row.paper for row in rows["pruning"]] == [1.5, 2.0]
    assert [row.unit for row in rows["latency"]] == ["ms"] * 4
    by_figure = {row.claim.split(", ")[2].split()[0]: row.ours for row in rows["latency"]}
    assert by_figure["p50"] <= by_figure["p95"] <= by_figure["p99"]
    expected = len(measures.doublings(len(usable_cores())))
    assert len(rows["cores"]) == (expected if len(usable_cores()) > 1 else 0)
    for row in itertools.chain(*rows.values()):
        assert row.rounds == 2 and row.ours > 0 and row.other > 0
        assert row.lowest <= row.highest
        assert row.claim.startswith(f"small, {ISA}: ")


def test_memory_is_told_as_the_text_goes_on(monkeypatch):
    monkeypatch.setattr(measures, "WINDOW", 4)
    assert measures.milestones(400) == [4, 40, 400]
    assert measures.milestones(8) == [4, 8]
    stream = measures.Stream(Case(SHAPE), ISA)
    seen = []
    monkeypatch.setattr(stream._engine, "prepare", lambda text, size: seen.extend(map(tuple, text)))
    assert stream.go_on(12) > 50
    assert len(set(seen)) == 12  # no repeated sentence
    assert stream.go_on(12) > 50 and len(seen) == 12


@pytest.mark.usefixtures("forked_workers")
def test_memory_is_compared_with_that_of_the_beginning():
    (row,) = measures.growth("small", SHAPE, ISA, 2 * measures.WINDOW, 1)
    assert f"after {2 * measures.WINDOW:,} lines against {measures.WINDOW:,}" in row.claim
    assert row.unit == "MiB" and 0.9 < row.ratio < 1.1


def test_both_engines_translate_the_whole_text_to_outputs_of_the_same_length(monkeypatch):
    """Lengths are forced; each engine's own output is counted."""
    text = sentences(SHAPE.vocabulary, 10)
    expected = sorted(limit for batch, limit in in_batches(text, 4) for _ in batch)

    ours = engines.Ours(Case(SHAPE, "float32"), ISA)
    lengths = []
    translate = ours._runtime.translate
    monkeypatch.setattr(
        ours._runtime,
        "translate",
        lambda *given: lengths.extend(map(len, translate(*given))),
    )
    ours.prepare(text, 4)
    assert len(ours.translate()) == 3
    assert sorted(length + 1 for length in lengths) == expected  # counting the end

    theirs = engines.CTranslate2(Case(SHAPE, "float32"))
    lengths.clear()
    translator = theirs._translator

    class Counting:
        def translate_batch(self, *given, **options):
            found = translator.translate_batch(*given, **options)
            lengths.extend(len(one.hypotheses[0]) for one in found)

    theirs._translator = Counting()
    theirs.prepare(text, 4)
    assert len(theirs.translate()) == 3
    assert sorted(lengths) == expected


def test_the_opponent_has_the_same_shape():
    shape = with_attention(SHAPE)
    assert [layer.self_heads for layer in shape.decoder] == [2]
    assert shape.encoder == SHAPE.encoder and shape.decoder_kind == "attention"


def test_texts_are_like_news_and_shortlists_like_real_ones():
    """PEERS: 20.3 words per sentence; about 4,500 columns for a batch of 32 sentences with 32,000 pieces."""
    text = sentences(32000, 3000)
    assert words(text) / len(text) == pytest.approx(20.3, rel=0.05)
    shortlist = random_shortlist(32000)
    columns = [
        len(shortlist.columns(piece for source in batch for piece in source))
        for batch, _ in in_batches(text, 32)
    ]
    assert sum(columns) / len(columns) == pytest.approx(4500, rel=0.1)


def test_pruned_shapes_are_the_papers():
    tiny = runtime.architectures(["tiny"])["tiny"]
    found = {cut.recipe: cut for cut in pruned.cuts("tiny", tiny)}
    pushy = found["pushy.i6"]
    assert [layer.heads for layer in pushy.architecture.encoder] == [2] * 6
    assert pushy.faster == {"float32": pytest.approx(2298 / 2050)}
    assert [layer.heads for layer in found["steady.i12"].architecture.encoder] == [2, 0, 1, 2, 3, 4]

    deep = runtime.architectures(["12-1.tiny"])["12-1.tiny"]
    found = {cut.recipe: cut for cut in pruned.cuts("12-1.tiny", deep)}
    assert found["head-lasso"].faster == pytest.approx({"float32": 19.2 / 14.5, "int8": 19.2 / 9.3})
    assert found["rowcol-lasso"].faster == pytest.approx(
        {"float32": 19.2 / 11.6, "int8": 19.2 / 7.1}
    )
    for recipe, heads, neurons in (("head-lasso", 0.03, 0.75), ("rowcol-lasso", 0.68, 0.73)):
        encoder = found[recipe].architecture.encoder
        assert sum(layer.heads for layer in encoder) / 96 == pytest.approx(1 - heads, abs=0.006)
        assert encoder[0].feed_forward / 1536 == pytest.approx(1 - neurons, abs=0.001)
        assert found[recipe].architecture.decoder == deep.decoder
    assert pruned.cuts("base", deep) == []


def test_papers_gain_by_int8():
    assert measures.printed_int8("base") == pytest.approx(1648 / 843)
    assert measures.printed_int8("tiny") == pytest.approx(3135 / 2220)
    assert measures.printed_int8("12-1.tiny") is None


def test_a_network_never_ends_by_itself_in_any_precision():
    for precision in ("float32", "int8"):
        bias = random_network(Case(SHAPE, precision)).output.bias
        assert bias[0] < -1000 and bias[1:].min() > -10


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_a_network_may_have_a_block_without_heads(precision):
    shape = replace(SHAPE, encoder=(replace(LAYER, heads=0), LAYER))
    network = random_network(Case(shape, precision))
    length = SearchOptions(length_factor=1.0, length_constant=1)
    found = Runtime([network], ISA).translate([[5, 6, 0], [7, 0]], length)
    assert [len(pieces) for pieces in found] == [2, 1]  # and the end


def test_what_is_faster_than_ours_is_forbidden_to_the_opponent(monkeypatch):
    def settings(found, isa):
        monkeypatch.setattr(engines, "available", lambda: found)
        return engines.opponents_settings(isa)

    everything = settings(["amx", "vnni", "avx2"], "amx")
    assert {one["CT2_FORCE_CPU_ISA"] for one in everything} == {"AVX512", "AVX2"}
    assert all("ONEDNN_MAX_CPU_ISA" not in one for one in everything)
    without = settings(["amx", "vnni", "avx2"], "vnni")
    assert {one["ONEDNN_MAX_CPU_ISA"] for one in without} == {"AVX512_CORE_VNNI"}
    narrow = settings(["amx", "vnni", "avx2"], "avx2")
    assert {(one["CT2_FORCE_CPU_ISA"], one["ONEDNN_MAX_CPU_ISA"]) for one in narrow} == {
        ("AVX2", "AVX2")
    }
    desktop = settings(["vnni", "avxvnni", "avx2"], "avxvnni")
    assert {(one["CT2_FORCE_CPU_ISA"], one["ONEDNN_MAX_CPU_ISA"]) for one in desktop} == {
        ("AVX2", "AVX2_VNNI")
    }
    # Processors without AVX-512 must not be asked to run it.
    assert {one["CT2_FORCE_CPU_ISA"] for one in settings(["avx2"], "avx2")} == {"AVX2"}
    assert {one["CT2_FORCE_CPU_ISA"] for one in settings(["vnni", "avx2"], "portable")} == {
        "AVX512",
        "AVX2",
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--arch", "tinny"],
            "--arch: no model 'tinny' in config/models.yaml; did you mean 'tiny'?",
        ),
        (["--arch", "tiny", "teacher_x3"], "--arch: 'teacher_x3' is an ensemble"),
        (["--isa", "vnnni"], "no instruction set 'vnnni'; did you mean 'vnni'?"),
    ],
)
def test_what_does_not_exist_is_refused(options, message, capsys):
    assert main(["benchmark", "runtime", *options]) == 1
    assert message in capsys.readouterr().err


def test_an_instruction_set_that_the_processor_lacks_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(extension, "available", lambda: ["avx2"])
    assert main(["benchmark", "runtime", "--isa", "amx"]) == 1
    message = capsys.readouterr().err
    assert "instruction set 'amx': this machine lacks it; it has avx2, portable" in message


def test_every_instruction_set_of_this_processor_may_be_asked_for():
    for isa in (*NEEDS, PORTABLE):
        if isa in (*available(), PORTABLE):
            assert list(runtime.run(1, arch=[], isa=isa)) == []


def test_command_gives_json(monkeypatch, capsys):
    monkeypatch.setattr(runtime, "architectures", lambda names: {"small": SHAPE})
    cut = pruned.Cut("same", SHAPE, {"float32": 1.25})
    monkeypatch.setattr(measures, "cuts", lambda name, full: [cut])
    options = ["--subjects", "pruning", "--sentences", "5", "--rounds", "1", "--json"]
    assert main(["benchmark", "runtime", "--arch", "tiny", *options]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["claim"] == f"small, {ISA}: same in float32 against unpruned in float32"
    assert (row["paper"], row["rounds"]) == (1.25, 1)
