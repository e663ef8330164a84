"""Scoring as on a GPU: on the CPU with plain packed attention, and on a GPU if there is one."""

import random
from itertools import pairwise

import numpy as np
import pytest
import torch

from tests.metric.classes import CLASSES, VARIANTS, encoder_of
from tests.metric.small import REFERENCES, SOURCES, SYSTEMS, make_checkpoint, make_encoder
from weebill.errors import InputError
from weebill.metric import attention, joint, overlap, reader, scorer, sentence_vectors
from weebill.metric.folder import load_metric, save_metric
from weebill.metric.lengths import Lengths, Segments
from weebill.metric.mbr import MetricUtility, decode_all
from weebill.metric.reader import precision_on
from weebill.metric.scorer import Scorer, checked_precision
from weebill.metric.storing import entries

WORDS = sorted({word for line in [*SOURCES, *REFERENCES] for word in line.split()})
pytestmark = pytest.mark.usefixtures("whole_products")


def plain_flash(q, k, v, offsets, longest):
    """Attend sentence by sentence, in float32."""
    places, found = offsets.tolist(), []
    for begin, end in pairwise(places):
        assert end - begin <= longest
        logits = torch.einsum("qhd,khd->hqk", q[begin:end].float(), k[begin:end].float())
        shares = (logits / q.shape[-1] ** 0.5).softmax(-1)
        found.append(torch.einsum("hqk,khd->qhd", shares, v[begin:end].float()))
    return torch.cat(found).to(q.dtype)


@pytest.fixture
def as_on_a_gpu(monkeypatch):
    """Make the CPU compute as a GPU does: packed attention, sums by start positions, overlapping parts."""
    monkeypatch.setattr(attention, "packs", lambda *_: True)
    monkeypatch.setattr(attention, "flash", plain_flash)
    monkeypatch.setattr(Lengths, "on", lambda self, device: Segments(self, device))
    plain = sentence_vectors.in_parts
    for module in (sentence_vectors, joint):
        monkeypatch.setattr(module, "in_parts", lambda *given: plain(*given[:-1], "cuda"))
    monkeypatch.setattr(overlap, "AT_ONCE", {"cpu": 5, "cuda": 4})


def text(count, seed=1):
    """Return sources, references and two systems of random words."""
    draw = random.Random(seed)

    def line():
        return " ".join(draw.choices(WORDS, k=draw.randint(1, 14)))

    sources, references = ([line() for _ in range(count)] for _ in range(2))
    worse = [line() if draw.random() < 0.7 else one for one in references]
    return {"near": references[::-1], "worse": worse}, sources, references


def scored(made, systems, sources, references):
    """Score, with references if the model needs them."""
    return made.score(systems, sources, references if made.needs_references else None)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_way_of_gpus_gives_equal_scores(tmp_path, request, variant):
    folder = make_checkpoint(
        tmp_path / "metric", encoder_of(tmp_path, VARIANTS[variant]), **VARIANTS[variant]
    )
    wanted = scored(Scorer(folder, batch_pieces=60), SYSTEMS, SOURCES, REFERENCES)
    request.getfixturevalue("as_on_a_gpu")
    found = scored(Scorer(folder, batch_pieces=60), SYSTEMS, SOURCES, REFERENCES)
    for name in SYSTEMS:
        np.testing.assert_allclose(found[name], wanted[name], atol=1e-6)


def test_the_way_of_gpus_gives_equal_errors(tmp_path, request):
    """The model reads a segment's texts together, and labels its pieces."""
    other = CLASSES["xcomet"]
    folder = make_checkpoint(tmp_path / "metric", encoder_of(tmp_path, other), **other)
    wanted = Scorer(folder, batch_pieces=60).judge(SYSTEMS, SOURCES, REFERENCES)
    request.getfixturevalue("as_on_a_gpu")
    found = Scorer(folder, batch_pieces=60).judge(SYSTEMS, SOURCES, REFERENCES)
    assert any(one for some in wanted.values() for one in some.errors)
    for name in SYSTEMS:
        np.testing.assert_allclose(found[name].scores, wanted[name].scores, atol=1e-6)
        for some, others in zip(found[name].errors, wanted[name].errors, strict=True):
            for one, two in zip(some, others, strict=True):
                assert one == two | {"confidence": pytest.approx(two["confidence"], abs=1e-5)}


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_way_of_gpus_makes_equal_choices(tmp_path, request, variant):
    """Candidates repeat, and some sources have more of them than others."""
    folder = make_checkpoint(
        tmp_path / "metric", encoder_of(tmp_path, VARIANTS[variant]), **VARIANTS[variant]
    )
    _, sources, references = text(9)
    candidates = [[*references[: 3 + n % 3], sources[n], references[0]] for n in range(9)]

    def choices():
        return [*decode_all(sources, candidates, MetricUtility(Scorer(folder, batch_pieces=60)))]

    wanted = choices()
    request.getfixturevalue("as_on_a_gpu")
    for found, expected in zip(choices(), wanted, strict=True):
        utilities = {one.text: one.utility for one in expected}
        assert {one.text: pytest.approx(one.utility, abs=1e-6) for one in found} == utilities


def test_choices_in_the_numbers_of_gpus_are_good(tmp_path):
    """With the name cpu:0, the CPU computes in bfloat16 as a GPU does: choices are as good as those in float32."""
    encoder = make_encoder(tmp_path / "encoder", hidden_size=64, intermediate_size=128)
    folder = make_checkpoint(tmp_path / "metric", encoder)
    systems, sources, references = text(40)
    candidates = [list(some) for some in zip(*systems.values(), references, sources, strict=True)]
    exact, rounded = (
        [*decode_all(sources, candidates, MetricUtility(Scorer(folder, device=device)))]
        for device in ("cpu", "cpu:0")
    )
    spread = np.std([one.utility for some in exact for one in some])
    for some, others in zip(exact, rounded, strict=True):
        utilities = {one.text: one.utility for one in some}
        errors = [one.utility - utilities[one.text] for one in others]
        assert 0 < np.abs(errors).max() < spread / 4
        assert some[0].utility - utilities[others[0].text] < spread / 10


@pytest.mark.parametrize("has", [True, False])
def test_auto_is_the_fastest_precision(has, monkeypatch):
    """A card that lacks bfloat16, such as a T4, computes in float32: Triton has no kernel for it in bfloat16."""
    for module in (reader, scorer):
        monkeypatch.setattr(module, "card_multiplies_bfloat16", lambda: has)
    monkeypatch.setattr(scorer, "check_device", lambda name: None)
    fast = "bfloat16" if has else "float32"
    found = [precision_on(one, "auto") for one in ("cpu", "cpu:0", "cuda", "cuda:1")]
    assert found == ["float32", "bfloat16", fast, fast]
    assert checked_precision("auto", "cuda") == fast
    assert checked_precision("float32", "cuda") == "float32"
    if not has:
        with pytest.raises(InputError, match="bfloat16: the GPU cuda:1 does not multiply it"):
            checked_precision("bfloat16", "cuda:1")


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_bfloat16_orders_as_float32(tmp_path, device):
    """Systems have the same order as in float32, and segment scores correlate."""
    encoder = make_encoder(tmp_path / "encoder", hidden_size=64, intermediate_size=128)
    folder = make_checkpoint(tmp_path / "metric", encoder)
    given = text(400)
    exact = Scorer(folder).score(*given)
    made = Scorer(folder, "bfloat16", device)
    found = made.score(*given)
    assert made.precision == "bfloat16"
    difference = max(np.abs(found[name] - exact[name]).max() for name in exact)
    pearson = np.corrcoef(np.concatenate([*found.values()]), np.concatenate([*exact.values()]))[
        0, 1
    ]
    print(f"{device}: largest difference {difference:.5f}, Pearson {pearson:.6f}")
    assert pearson >= 0.9999
    order = [sorted(some, key=lambda name, some=some: some[name].mean()) for some in (exact, found)]
    assert order[0] == order[1]


@pytest.mark.gpu
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_card_in_float32_equals_the_cpu(tmp_path, variant):
    folder = make_checkpoint(
        tmp_path / "metric", encoder_of(tmp_path, VARIANTS[variant]), **VARIANTS[variant]
    )
    systems, sources, references = text(100)
    wanted = scored(Scorer(folder), systems, sources, references)
    found = scored(Scorer(folder, "float32", "cuda"), systems, sources, references)
    for name in systems:
        print(variant, name, np.abs(found[name] - wanted[name]).max())
        np.testing.assert_allclose(found[name], wanted[name], atol=1e-4)


@pytest.mark.gpu
def test_a_card_packs_sentences_of_pruned_layers(tmp_path):
    """Flash attention is compared with float32 attention of each sentence, for lengths from 1 to 60."""
    torch.manual_seed(1)
    lengths = Lengths([[0] * size for size in range(1, 61)]).on(torch.device("cuda"))
    for heads, size in ((3, 16), (5, 64)):
        qkv = torch.randn(sum(lengths.each), 3, heads, size, device="cuda").bfloat16()
        way = attention.attention(torch.bfloat16, torch.device("cuda"), size)
        assert way.scale == 1
        found = way.attend(qkv, lengths)
        wanted = plain_flash(*qkv.unbind(1), lengths.offsets, lengths.longest).flatten(1)
        print(heads, size, (found.float() - wanted.float()).abs().max())
        torch.testing.assert_close(found.float(), wanted.float(), atol=0.02, rtol=0)


@pytest.mark.gpu
def test_a_card_never_waits_within_a_part(tmp_path):
    encoder = make_encoder(tmp_path / "encoder", hidden_size=64, intermediate_size=128)
    made = Scorer(make_checkpoint(tmp_path / "metric", encoder), device="cuda", batch_pieces=400)
    _, sources, references = text(200)
    pieces, _ = made.metric.tokenizer.encode([*sources, *references], made.metric.longest)
    made._reader.read(pieces, lambda count: None)  # packs the weights
    torch.cuda.set_sync_debug_mode("error")
    try:
        finish = made._reader.begin(pieces, lambda count: None)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert len(finish()) == len(pieces)


@pytest.mark.gpu
def test_a_card_reads_stored_int8_weights_and_chooses_by_bayes_risk(tmp_path):
    encoder = make_encoder(tmp_path / "encoder", hidden_size=64, intermediate_size=128)
    folder = make_checkpoint(tmp_path / "metric", encoder)
    metric = load_metric(folder)
    save_metric(tmp_path / "stored", metric, {}, entries(metric.network))
    systems, sources, references = text(60)
    wanted = Scorer(tmp_path / "stored").score(systems, sources, references)
    found = Scorer(tmp_path / "stored", device="cuda").score(systems, sources, references)
    for name in systems:
        assert np.corrcoef(found[name], wanted[name])[0, 1] > 0.999
    candidates = [list(some) for some in zip(*systems.values(), references, sources, strict=True)]
    choices = [
        [one[0].utility for one in decode_all(sources, candidates, MetricUtility(made))]
        for made in (Scorer(folder), Scorer(folder, "float32", "cuda"))
    ]
    np.testing.assert_allclose(*choices, atol=1e-4)
