"""Search, compared with an enumeration of all translations in a tiny vocabulary."""

import itertools
import math
from dataclasses import replace

import pytest
import torch
from torch import nn

from weebill.errors import InputError
from weebill.kernels import cpu_matmul
from weebill.pruning.cut import cut
from weebill.translation.model.network import Translator
from weebill.translation.search import fastest_precision, greedy, prepack, search
from weebill.translation.search import prepacked as prepacked_module
from weebill.translation.search.prepacked import prepacked
from weebill_runtime.architecture import Architecture, LayerShape
from weebill_runtime.options import SearchOptions, length_sorted_batches

SOURCES = [[2, 3, 0], [4, 0], [3, 2, 2, 4, 3, 0], [2, 0], [0], [4, 4, 3, 0], [3, 2, 2, 4, 0]]
SHORT = SearchOptions(length_factor=0.0, length_constant=4)  # at most 3 pieces and the end


def network(
    seed: int = 0, kind: str = "ssru", pieces: int = 5, sharpness: float = 3.0
) -> Translator:
    """Make a small random network with clear preferences."""
    torch.manual_seed(seed)
    encoder = LayerShape(heads=2, head_size=4, feed_forward=12)
    decoder = replace(encoder, self_heads=2 if kind == "attention" else 0)
    shape = Architecture(pieces, 8, (encoder,), (decoder,) * 2, decoder_depth=2, decoder_kind=kind)
    made = Translator(shape).double()
    with torch.no_grad():
        made.embedding.weight.normal_(std=1.0)
        made.output.bias.normal_(std=0.5)
    return made.eval()


def log_probabilities(networks, source, targets) -> list[float]:
    """Return the log probabilities of targets of one length, averaged over networks, by teacher forcing."""
    inputs = torch.tensor([[-1, *target] for target in targets])
    outputs = torch.tensor([[*target, 0] for target in targets])
    pieces = torch.tensor([source] * len(targets))
    mask = torch.ones_like(pieces, dtype=torch.bool)
    total = torch.zeros(len(targets), dtype=torch.float64)
    with torch.no_grad():
        for one in networks:
            hidden = one.decode(inputs, one.encode(pieces, mask), mask)
            log_p = one.logits(hidden).log_softmax(-1)
            total += log_p.gather(2, outputs[..., None]).sum((1, 2)) / len(networks)
    return total.tolist()


def enumerate_all(networks, source, options, pieces=5, limit=4):
    """Return all translations without the unknown piece, with their scores, best first."""
    found = []
    for length in range(limit):
        targets = list(itertools.product(range(2, pieces), repeat=length))
        for target, total in zip(
            targets, log_probabilities(networks, source, targets), strict=True
        ):
            found.append((target, total / (length + 1) ** options.length_normalisation))
    return sorted(found, key=lambda pair: -pair[1])


@pytest.mark.parametrize("kind", ["ssru", "attention"])
@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
def test_wide_beam_finds_every_translation_in_order(kind, alpha):
    """If the beam has room for all translations, the n-best list contains all of them with exact scores."""
    options = replace(SHORT, beam=64, nbest=40, length_normalisation=alpha)
    networks = [network(1, kind)]
    results = search(networks, SOURCES, options)
    for source, found in zip(SOURCES, results, strict=True):
        if source == [0]:
            continue
        truth = enumerate_all(networks, source, options)
        assert len(truth) == len(found) == 40  # 1 + 3 + 9 + 27
        assert [c.tokens for c in found] == [target for target, _ in truth]
        assert [c.score for c in found] == pytest.approx([score for _, score in truth], abs=1e-5)


def test_one_best_with_early_stop_is_the_argmax():
    """The search may stop as soon as no better hypothesis is possible."""
    for seed in range(5):
        networks = [network(seed)]
        for alpha in (0.0, 1.0):
            options = replace(SHORT, beam=64, nbest=1, length_normalisation=alpha)
            for source, found in zip(SOURCES, search(networks, SOURCES, options), strict=True):
                if source != [0]:
                    best, score = enumerate_all(networks, source, options)[0]
                    assert found[0].tokens == best
                    assert found[0].score == pytest.approx(score, abs=1e-5)


def test_ensemble_averages_log_probabilities():
    """The n-best list of two networks equals an enumeration by averaged log probabilities."""
    networks = [network(3), network(4, "attention")]
    options = replace(SHORT, beam=64, nbest=40)
    for source, found in zip(SOURCES, search(networks, SOURCES, options), strict=True):
        if source != [0]:
            truth = enumerate_all(networks, source, options)
            assert [c.tokens for c in found] == [target for target, _ in truth]
            assert found[0].score == pytest.approx(truth[0][1], abs=1e-5)


def test_ensemble_of_identical_networks_is_the_network():
    one = [network(5)]
    options = SearchOptions(beam=4, nbest=4)
    single, triple = search(one, SOURCES, options), search(one * 3, SOURCES, options)
    assert [[c.tokens for c in found] for found in single] == [
        [c.tokens for c in found] for found in triple
    ]
    assert greedy(one, SOURCES) == greedy(one * 3, SOURCES)


@pytest.mark.parametrize("kind", ["ssru", "attention"])
def test_greedy_is_beam_one(kind):
    for seed in range(5):
        one = [network(seed, kind, pieces=300)]
        beam = [list(found[0].tokens) for found in search(one, SOURCES, SearchOptions())]
        assert greedy(one, SOURCES) == beam


def test_greedy_takes_the_most_probable_piece_at_each_step():
    """The reference is a loop that decodes by teacher forcing from scratch at every step."""
    one = network(7, pieces=30)
    for source, found in zip(SOURCES, greedy([one], SOURCES), strict=True):
        target = []
        limit = SearchOptions().limit(len(source) - 1)
        pieces = torch.tensor([source])
        mask = torch.ones_like(pieces, dtype=torch.bool)
        while source != [0] and len(target) < limit - 1:
            with torch.no_grad():
                hidden = one.decode(torch.tensor([[-1, *target]]), one.encode(pieces, mask), mask)
                logits = one.logits(hidden)[0, -1]
            logits[1] = -torch.inf
            if int(logits.argmax()) == 0:
                break
            target.append(int(logits.argmax()))
        assert found == target


@pytest.mark.parametrize("kind", ["ssru", "attention"])
@pytest.mark.parametrize("beam", [1, 3])
def test_a_sentence_does_not_depend_on_its_batch(kind, beam):
    """Sentences have the same translations and scores alone, all at once, and in reverse order."""
    networks = [network(8, kind, pieces=200)]
    torch.manual_seed(0)
    sources = [[*torch.randint(2, 200, (int(n),)).tolist(), 0] for n in torch.randint(1, 15, (12,))]
    options = SearchOptions(beam=beam, nbest=beam, batch_size=8)
    together = search(networks, sources, options)
    alone = search(networks, sources, replace(options, batch_size=1))
    reverse = search(networks, sources[::-1], options)[::-1]
    for others in (alone, reverse):
        for found, other in zip(together, others, strict=True):
            assert [c.tokens for c in found] == [c.tokens for c in other]
            assert [c.score for c in found] == pytest.approx([c.score for c in other], abs=1e-5)
    assert greedy(networks, sources, options) == [
        greedy(networks, [source], options)[0] for source in sources
    ]


@pytest.mark.parametrize("headless", [0, 1])
def test_a_decoder_layer_without_self_attention_heads(headless):
    """Such a layer keeps no state; other layers' states give the number of rows per sentence."""
    model = network(3, "attention", pieces=50)
    cut(model, {f"decoder.{headless}.self_attention": [0, 1]})
    torch.manual_seed(0)
    sources = [[*torch.randint(2, 50, (n,)).tolist(), 0] for n in range(1, 9)]
    options = SearchOptions(beam=4)
    alone = [search([model], [source], options)[0] for source in sources]
    for found, other in zip(search([model], sources, options), alone, strict=True):
        assert found[0].tokens == other[0].tokens
        assert found[0].score == pytest.approx(other[0].score, abs=1e-9)


def test_nbest_is_sorted_and_distinct():
    for found in search([network(9, pieces=100)], SOURCES, SearchOptions(beam=6, nbest=6)):
        scores = [candidate.score for candidate in found]
        assert scores == sorted(scores, reverse=True)
        assert len({candidate.tokens for candidate in found}) == len(found)


def test_lengths_stay_within_their_limit():
    """A network that never ends by itself stops at factor · source + constant, counting the end."""
    endless = network(10)
    with torch.no_grad():
        endless.output.bias[0] = -1e4
    options = SearchOptions(beam=2, nbest=2, length_factor=1.5, length_constant=3)
    for source, found in zip(SOURCES, search([endless], SOURCES, options), strict=True):
        if source != [0]:
            assert {len(c.tokens) + 1 for c in found} == {options.limit(len(source) - 1)}
    lengths = [len(tokens) + 1 for tokens in greedy([endless], SOURCES, options) if tokens]
    assert lengths == [options.limit(len(source) - 1) for source in SOURCES if source != [0]]


def test_long_sources_are_cropped_and_empty_ones_stay_empty():
    one = [network(11, pieces=50)]
    long = [2 + i % 40 for i in range(30)] + [0]
    options = SearchOptions(max_source_tokens=7)
    assert greedy(one, [long, [0]], options) == [greedy(one, [[*long[:7], 0]])[0], []]
    assert search(one, [[0]])[0][0].tokens == ()


def test_the_unknown_piece_is_suppressed_unless_allowed():
    fond = network(12)
    with torch.no_grad():
        fond.output.bias[1] = 1e4
    assert all(1 not in tokens for tokens in greedy([fond], SOURCES))
    options = SearchOptions(allow_unknown=True)
    assert greedy([fond], [[2, 3, 0]], options) == [[1] * (options.limit(2) - 1)]
    assert search([fond], [[2, 3, 0]], options)[0][0].tokens == (1,) * (options.limit(2) - 1)


def test_dropout_is_off_during_search_and_back_on_after():
    one = network(13)
    noisy = Translator(one.architecture, dropout=0.5).double()
    noisy.load_state_dict(one.state_dict())
    noisy.train()
    assert greedy([noisy], SOURCES) == greedy([one], SOURCES)
    assert noisy.training


def test_a_diverged_model_is_named():
    broken = network(14)
    nn.init.constant_(broken.output.bias, float("nan"))
    with pytest.raises(InputError, match="not a number"):
        search([broken], [[2, 0]], SearchOptions(beam=2))


def test_options_are_checked():
    with pytest.raises(ValueError, match="nbest 3"):
        SearchOptions(beam=2, nbest=3)
    with pytest.raises(ValueError, match="batch_size"):
        SearchOptions(batch_size=0)
    for power in (-100_000, -0.1, 10.1, float("inf"), float("nan")):
        with pytest.raises(ValueError, match=f"normalisation must be from 0 to 10, not {power}"):
            SearchOptions(length_normalisation=power)


def test_the_strongest_length_normalisation_scores():
    found = search([network(4)], SOURCES, SearchOptions(beam=3, nbest=3, length_normalisation=10))
    assert all(math.isfinite(one.score) for each in found for one in each)


def test_batches_hold_like_lengths_within_bounds():
    lengths = [5, 0, 3, 9, 3, 7, 1, 40, 3]
    batches = length_sorted_batches(lengths, batch_size=3, batch_tokens=20)
    assert sorted(itertools.chain(*batches)) == [0, 2, 3, 4, 5, 6, 7, 8]
    assert batches == [[7], [3, 5], [0, 2, 4], [8, 6]]
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= 20


def test_prepacked_layers_are_the_same_layers(monkeypatch):
    """Products of any height and layout agree; packing is undone at the end; other layers do not change."""
    monkeypatch.setattr(cpu_matmul, "ONEDNN_IS_USED", True)
    torch.manual_seed(0)
    layers = nn.ModuleDict(
        {
            "plain": nn.Linear(24, 40),
            "unbiased": nn.Linear(24, 40, bias=False),
            "float64": nn.Linear(24, 40).double(),
            "empty": nn.utils.skip_init(nn.Linear, 24, 0),
        }
    )
    inputs = [torch.randn(rows, 24) for rows in (1, 3, 4, 33)]
    inputs += [torch.randn(5, 7, 24), torch.randn(7, 5, 24).transpose(0, 1)]
    with torch.inference_mode():
        expected = {
            name: [layer(x.to(layer.weight.dtype)) for x in inputs]
            for name, layer in layers.items()
        }
        with prepacked([layers]):
            assert "forward" in vars(layers["plain"]) and "forward" not in vars(layers["float64"])
            for name, layer in layers.items():
                for x, before in zip(inputs, expected[name], strict=True):
                    torch.testing.assert_close(layer(x.to(layer.weight.dtype)), before)
    assert "forward" not in vars(layers["plain"])


@pytest.mark.parametrize("packed", [True, False])
def test_rounded_layers_multiply_rounded_numbers(packed, monkeypatch):
    """Products equal float64 products of weights, inputs and bias in bfloat16, rounded to bfloat16 again."""
    monkeypatch.setattr(prepacked_module, "for_onednn", lambda weight: packed)
    torch.manual_seed(0)
    layer = nn.Linear(24, 40)
    weight, bias = (value.detach().bfloat16().double() for value in layer.parameters())
    prepack(layer, "bfloat16")
    for rows in (1, 3, 33):
        x = torch.randn(2, rows, 24)
        exact = x.bfloat16().double() @ weight.T + bias
        with torch.inference_mode():
            found = layer(x)
        assert found.dtype == torch.float32
        torch.testing.assert_close(found.double(), exact, rtol=2**-8, atol=1e-6)


def test_the_fastest_precision_is_that_of_the_processor(monkeypatch):
    for has, precision in (
        ({"avx512_bf16": True}, "bfloat16"),
        ({"amx_bf16": True}, "bfloat16"),
        ({}, "float32"),
    ):
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda has=has: has)
        assert fastest_precision("cpu") == precision
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    for native, precision in ((True, "bfloat16"), (False, "float32")):
        monkeypatch.setattr(
            torch.cuda,
            "is_bf16_supported",
            lambda including_emulation, native=native: including_emulation or native,
        )
        assert fastest_precision("cuda") == precision
