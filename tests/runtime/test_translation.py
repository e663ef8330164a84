"""The runtime gives PyTorch's translations for every kind of network and precision."""

import copy
import dataclasses
import functools
from itertools import product

import numpy as np
import pytest
import torch

from tests.runtime.conftest import ISAS, PIECES, SHAPES, network, quantized, sources
from tests.small_models import make_network as small_network
from weebill.errors import InputError
from weebill.kernels.extension import PORTABLE, has_bfloat16
from weebill.runtime.translator import Runtime
from weebill.translation.search import greedy, prepack, search
from weebill_runtime.options import SearchOptions
from weebill_runtime.shortlist import Shortlist

BATCHES = SearchOptions(batch_size=7, length_factor=0.5)
BEAMS = SearchOptions(batch_size=7, length_factor=0.5, beam=4, nbest=3)
PRECISIONS = ["float32", "int8", "int8_rowwise", "log4"]
# Every two of instruction set, shape and precision meet.  The portable path computes networks of any shape by their
# own code, so two shapes are enough.
COMPUTED = [
    *(
        (isa, shape, PRECISIONS[(i + j) % 2 :: 2])
        for (i, isa), (j, shape) in product(enumerate(ISAS), enumerate(SHAPES))
    ),
    *((PORTABLE, shape, PRECISIONS) for shape in ("ssru", "attention, untied")),
]


@pytest.fixture(params=[*ISAS, PORTABLE])
def isa(request):
    return request.param


@functools.cache
def _model(shape, precision):
    model = network(**SHAPES[shape])
    return model if precision == "float32" else quantized(model, precision)


def in_one_batch(options):
    """Return options for PyTorch, whose translations depend on no batch, and which takes a third of the time."""
    return dataclasses.replace(options, batch_size=len(sources()))


@functools.cache
def written_by_pytorch(shape, precision, options):
    """Return the model and PyTorch's translations, computed once for all instruction sets."""
    model = _model(shape, precision)
    translate = greedy if options.beam == 1 else search
    return model, translate([model], sources(), in_one_batch(options))


@pytest.mark.parametrize(("isa", "shape", "precisions"), COMPUTED)
def test_same_translations(isa, shape, precisions):
    for precision in precisions:
        model, expected = written_by_pytorch(shape, precision, BATCHES)
        found = Runtime([model], isa).translate(sources(), BATCHES)
        same = [a == b for a, b in zip(found, expected, strict=True)]
        assert len({len(one) for one in expected}) > 3, "some end early, or the test says little"
        # Sums in another order may change the choice between nearly equal pieces.
        assert sum(same) >= len(same) - 1, precision


ONE = SearchOptions(batch_size=1, length_factor=0.5)
ONE_BY_BEAM = SearchOptions(batch_size=1, length_factor=0.5, beam=3, nbest=2)


@functools.cache
def shortlisted_by_pytorch():
    """Return a shortlist, and PyTorch's greedy and best translations of each source with its columns only."""
    model, draw = network(), np.random.default_rng(5)
    candidates = draw.integers(1, PIECES, (PIECES, 3)).astype(np.int32)
    shortlist = Shortlist(candidates, np.array([2, 3], dtype=np.int32))
    expected = []
    for source in sources(5):
        outside = np.setdiff1d(np.arange(PIECES), shortlist.columns(source))
        only = copy.deepcopy(model)
        only.output.bias.data[outside] = -torch.inf
        expected.append((greedy([only], [source], ONE), search([only], [source], ONE_BY_BEAM)[0]))
    return shortlist, expected


def test_a_shortlist_chooses_among_its_columns(isa):
    shortlist, expected = shortlisted_by_pytorch()
    runtime = Runtime([network()], isa, shortlist)
    for source, (by_greedy, best) in zip(sources(5), expected, strict=True):
        assert runtime.translate([source], ONE) == by_greedy
        (found,) = runtime.search([source], ONE_BY_BEAM)
        assert [one.tokens for one in found] == [one.tokens for one in best]
        assert [one.score for one in found] == pytest.approx([one.score for one in best], abs=1e-4)


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_padding_is_never_chosen(isa, precision):
    """Columns are padded to whole vectors; if all outputs are negative, padding with 0 would win."""
    model = _model("ssru", precision)
    candidates = np.arange(PIECES, dtype=np.int32)[:, None].repeat(2, 1)
    for shortlist in (None, Shortlist(candidates, np.array([2, 3, 5], dtype=np.int32))):
        expected = Runtime([model], isa, shortlist).translate(sources(7), BATCHES)
        below = copy.deepcopy(model)
        below.output.bias.data -= 100
        assert Runtime([below], isa, shortlist).translate(sources(7), BATCHES) == expected


@functools.cache
def gated_by_pytorch(sign):
    """Return a model with closed or open gates, and PyTorch's translations."""
    model = network()
    for layer in model.decoder:
        layer.recurrence.forget.bias.data += 500 * sign
    return model, greedy([model], sources(), in_one_batch(BATCHES))


@pytest.mark.parametrize("sign", [-1, 1])
def test_gates_that_are_shut_or_open(isa, sign):
    """The inputs of the gates are far outside the range of eˣ."""
    model, expected = gated_by_pytorch(sign)
    found = Runtime([model], isa).translate(sources(), BATCHES)
    same = [a == b for a, b in zip(found, expected, strict=True)]
    assert sum(same) >= len(same) - 1


def test_batches_of_its_own_choice_change_no_translation(isa):
    runtime = Runtime([network()], isa)
    chosen = dataclasses.replace(ONE, batch_size=None)
    assert runtime.translate(sources(), chosen) == runtime.translate(sources(), ONE)


@pytest.mark.parametrize(
    ("isa", "shape"),
    [
        *product(ISAS, ["ssru", "attention", "ssru, no memory"]),
        (PORTABLE, "ssru"),
        (PORTABLE, "attention"),
    ],
)
def test_a_beam_finds_the_same_hypotheses(isa, shape):
    """Beams grow, and shrink as hypotheses end; finished sentences leave the batch.

    Precisions take turns from one instruction set to the next, and from shape to shape.
    """
    precision = ("float32", "int8")[([*ISAS, PORTABLE].index(isa) + list(SHAPES).index(shape)) % 2]
    model, expected = written_by_pytorch(shape, precision, BEAMS)
    found = Runtime([model], isa).search(sources(), BEAMS)
    # A sum in another order may change an activation by a step of 8 bits, and thereby all later numbers.
    tolerance, others = (1e-4, 1) if precision == "float32" else (0.03, 4)
    same = [
        [one.tokens for one in a] == [one.tokens for one in b]
        and [one.score for one in a] == pytest.approx([one.score for one in b], abs=tolerance)
        for a, b in zip(found, expected, strict=True)
    ]
    assert sum(same) >= len(same) - others


@functools.cache
def unknown_by_pytorch(allow_unknown):
    """Return a model that prefers the unknown piece, options, and PyTorch's translations."""
    model = network()
    with torch.no_grad():
        model.output.bias[1] = 50.0
    options = SearchOptions(allow_unknown=allow_unknown)
    return model, options, greedy([model], sources(5), options)


@pytest.mark.parametrize("allow_unknown", [False, True])
def test_the_unknown_piece_stands_only_where_it_may(isa, allow_unknown):
    model, options, expected = unknown_by_pytorch(allow_unknown)
    found = Runtime([model], isa).translate(sources(5), options)
    assert found == expected
    assert (1 in {piece for one in found for piece in one}) == allow_unknown


def test_a_student_of_mixed_precision_is_refused(isa):
    if isa == PORTABLE:
        pytest.skip("PyTorch multiplies each layer as it is")
    model = quantized(network(), "int8", skip=["encoder.1.*"])
    with pytest.raises(InputError, match="leaves some in float32"):
        Runtime([model], isa)


@functools.cache
def rounded_by_pytorch():
    """Return a model, and PyTorch's translations by products of bfloat16 numbers."""
    model = network(kind="attention", tied=False)
    rounded = copy.deepcopy(model)
    prepack(rounded, "bfloat16")
    return model, search([rounded], sources(), in_one_batch(BEAMS))


def test_products_of_bfloat16_numbers_are_those_of_pytorch(isa):
    """Only rounding between the products differs, where PyTorch's path keeps float32."""
    if isa != PORTABLE and not has_bfloat16(isa):
        pytest.skip(f"{isa} has no products of bfloat16 on this processor")
    model, expected = rounded_by_pytorch()
    found = Runtime([model], isa, precision="bfloat16").search(sources(), BEAMS)
    same = [
        a[0].tokens == b[0].tokens and a[0].score == pytest.approx(b[0].score, abs=0.02)
        for a, b in zip(found, expected, strict=True)
    ]
    assert sum(same) >= 0.85 * len(same)


def test_an_instruction_set_without_products_of_bfloat16_is_refused(isa, monkeypatch):
    if isa == PORTABLE:
        pytest.skip("PyTorch multiplies any numbers")
    monkeypatch.setattr("weebill_runtime.compiled.has_bfloat16", lambda isa: False)
    with pytest.raises(InputError, match=f"'{isa}' has no products in bfloat16"):
        Runtime([network()], isa, precision="bfloat16")


@functools.cache
def averaged_by_pytorch(options):
    """Return two networks, and PyTorch's best translations by their average."""
    one, other = network(), network(kind="attention")
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    found = search([one, other], sources(), in_one_batch(options))
    return [one, other], [list(best.tokens) for best, *_ in found]


def test_several_networks_are_averaged(isa):
    """Greedy search and a beam take turns from one instruction set to the next."""
    beam = (1, 3)[[*ISAS, PORTABLE].index(isa) % 2]
    options = dataclasses.replace(BATCHES, beam=beam)
    models, expected = averaged_by_pytorch(options)
    runtime = Runtime(models, isa)
    by_beam = [list(best.tokens) for best, *_ in runtime.search(sources(), options)]
    same = [a == b for a, b in zip(by_beam, expected, strict=True)]
    assert sum(same) >= len(same) - 1
    if beam == 1:
        assert runtime.translate(sources(), options) == by_beam


LONG = SearchOptions(beam=2, max_source_tokens=4000, length_factor=0.0, length_constant=4)


@functools.cache
def long_sources_by_pytorch(kind):
    """Return a model, sources of 3,000 and 7 pieces, and their best translations; scores depend on all pieces."""
    model = small_network(PIECES, kind=kind)
    draw = np.random.default_rng(3)
    long = [[*draw.integers(2, PIECES, count).tolist(), 0] for count in (3000, 7)]
    expected = [best for best, *_ in search([model], long, LONG)]
    cropped = search([model], long[:1], dataclasses.replace(LONG, max_source_tokens=2900))[0][0]
    assert abs(cropped.score - expected[0].score) > 5e-4
    return model, long, expected


@pytest.mark.parametrize("kind", ["ssru", "attention"])
def test_sources_of_thousands_of_pieces(isa, kind):
    """The shorter sources come first, so the table of positions must grow."""
    model, long, expected = long_sources_by_pytorch(kind)
    runtime = Runtime([model], isa)
    runtime.search(long[1:], LONG)
    for [found, *_], other in zip(runtime.search(long, LONG), expected, strict=True):
        assert found.tokens == other.tokens
        assert found.score == pytest.approx(other.score, abs=5e-5)


def test_room_follows_the_sources_not_the_bound(isa):
    """A bound of 10^12 pieces allocates no memory."""
    model, (_, short), (_, expected) = long_sources_by_pytorch("ssru")
    options = dataclasses.replace(LONG, max_source_tokens=10**12)
    ((found, *_),) = Runtime([model], isa).search([short], options)
    assert found.tokens == expected.tokens
