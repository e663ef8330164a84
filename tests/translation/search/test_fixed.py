"""Search in fixed memory gives the plain searches' results; here, replays call the same function repeatedly."""

from functools import partial
from itertools import pairwise, product

import pytest
import torch

from tests.runtime.conftest import SHAPES, network, sources
from weebill.errors import InputError
from weebill.translation.model.batch import pad
from weebill.translation.search import shapes
from weebill.translation.search.beam import beam_batch
from weebill.translation.search.ensemble import Ensemble
from weebill.translation.search.fixed import FixedDecoder
from weebill.translation.search.fixed_beam import fixed_beam
from weebill.translation.search.fixed_greedy import fixed_greedy
from weebill.translation.search.run import greedy_batch
from weebill.translation.search.sampling import sample_batch
from weebill_runtime.options import Sampling, SearchOptions

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def _drop_few_rows(monkeypatch):
    monkeypatch.setattr(shapes, "FEWEST_KEPT", 2)


def batch(count, factor=1.5):
    """Return source, mask and limits of `count` sentences, the longest first."""
    found = sorted((one for one in sources(count) if len(one) > 1), key=len, reverse=True)
    options = SearchOptions(length_factor=factor, length_constant=2)
    return *pad(found), torch.tensor([options.limit(len(one) - 1) for one in found])


def exact(**shape):
    """Return a network in float64, where rounding makes no ties."""
    return network(**shape).double()


def plainly(search, ensemble, *given):
    with torch.inference_mode():
        return search(ensemble, *given)


@pytest.mark.parametrize("shape", list(SHAPES)[::2])  # beams have the others
def test_greedy_gives_the_same_pieces(shape):
    ensemble, decoder = Ensemble([exact(**SHAPES[shape])]), FixedDecoder(CPU)
    for count in (18, 3, 18):  # smaller batches use the memory of larger ones
        given = batch(count)
        expected = plainly(greedy_batch, ensemble, *given)
        assert fixed_greedy(decoder, ensemble, *given) == expected
    assert len({len(one) for one in expected}) > 3, "some end early, or the test says little"


def test_nan_of_one_batch_stays_there():
    ensemble, decoder = Ensemble([exact(kind="attention")]), FixedDecoder(CPU)
    given = batch(17)
    expected = fixed_greedy(decoder, ensemble, *given)
    with torch.inference_mode():
        for buffer in decoder.rows._buffers.values():
            if buffer.is_floating_point():
                buffer.fill_(torch.nan)
    assert fixed_greedy(decoder, ensemble, *given) == expected


@pytest.mark.parametrize("unknown", [False, True])
def test_limits_of_one_piece_and_more(unknown):
    ensemble, decoder = Ensemble([exact()]), FixedDecoder(CPU)
    source, mask, limits = batch(40)
    limits = torch.arange(len(limits)) % 30 + 1
    given = source, mask, limits, unknown
    assert fixed_greedy(decoder, ensemble, *given) == plainly(greedy_batch, ensemble, *given)
    ones = torch.ones_like(limits)
    assert not any(fixed_greedy(decoder, ensemble, source, mask, ones, unknown))


def test_an_ensemble_is_averaged():
    members = [exact(kind="attention"), exact(tied=False)]
    torch.manual_seed(1)
    members[1].embedding.weight.data.normal_(std=0.3)
    ensemble, decoder, given = Ensemble(members), FixedDecoder(CPU), batch(21)
    assert fixed_greedy(decoder, ensemble, *given) == plainly(greedy_batch, ensemble, *given)
    options = SearchOptions(beam=4, nbest=4)
    same_candidates(
        fixed_beam(decoder, ensemble, *given, options),
        plainly(beam_batch, ensemble, *given, options),
    )


def test_other_weights_are_seen():
    """Graphs are forgotten if weights move in memory; weights changed in place are read in any case."""
    model, decoder, given = exact(), FixedDecoder(CPU), batch(9)
    ensemble = Ensemble([model])
    for change in (lambda bias: bias.data.neg_(), lambda bias: setattr(bias, "data", -bias.data)):
        fixed_greedy(decoder, ensemble, *given)
        change(model.decoder[0].feed_forward.inner.bias)
        assert fixed_greedy(decoder, ensemble, *given) == plainly(greedy_batch, ensemble, *given)


def same_candidates(found, expected):
    for ours, theirs in zip(found, expected, strict=True):
        assert [one.tokens for one in ours] == [one.tokens for one in theirs]
        scores = [one.score for one in theirs]
        assert [one.score for one in ours] == pytest.approx(scores, abs=1e-5)
        assert all(a.score >= b.score for a, b in pairwise(ours))


@pytest.mark.parametrize("shape", list(SHAPES)[1::2])
def test_beams_give_the_same_candidates(shape):
    ensemble, decoder = Ensemble([exact(**SHAPES[shape])]), FixedDecoder(CPU)
    for count, beam, nbest, power in (
        (13, 6, 3, 1.0),
        (4, 3, 1, 0.6),
        (13, 6, 6, 0.0),
    ):
        options = SearchOptions(beam=beam, nbest=nbest, length_normalisation=power)
        given = *batch(count, 1.0), options
        expected = plainly(beam_batch, ensemble, *given)
        same_candidates(fixed_beam(decoder, ensemble, *given), expected)


def test_beams_with_equal_probabilities():
    """The first of several equally probable pieces wins, whichever slot it continues."""
    model = exact()
    model.embedding.weight.data[20:40] = model.embedding.weight.data[60:80]
    model.output.bias.data[20:40] = model.output.bias.data[60:80]
    model.float()
    decoder, ensemble = FixedDecoder(CPU), Ensemble([model])
    for unknown, factor in product((False, True), (0.3, 1.0)):
        options = SearchOptions(beam=5, nbest=5, allow_unknown=unknown)
        given = *batch(21, factor), options
        expected = plainly(beam_batch, ensemble, *given)
        same_candidates(fixed_beam(decoder, ensemble, *given), expected)


def test_a_diverged_network_is_reported():
    model = exact()
    model.output.bias.data.fill_(torch.nan)
    with pytest.raises(InputError, match="not a number"):
        fixed_beam(FixedDecoder(CPU), Ensemble([model]), *batch(5), SearchOptions(beam=2))


@pytest.mark.parametrize("overflow", [torch.nan, torch.inf])
def test_an_overflow_in_one_sentence_is_reported_by_greedy_search(overflow):
    """Large states overflow float16; unnoticed, the first piece would be chosen, which is the end."""
    model, (source, *others) = exact(source_pieces=320), batch(9)
    model.source_embedding.weight.data[310] = overflow
    source[4, 0] = 310
    given, ensemble = (source, *others), Ensemble([model])
    with pytest.raises(InputError, match="take bfloat16 or float32"):
        plainly(greedy_batch, ensemble, *given)
    with pytest.raises(InputError, match="take bfloat16 or float32"):
        fixed_greedy(FixedDecoder(CPU), ensemble, *given)
    with pytest.raises(InputError, match="take bfloat16 or float32"):
        options = SearchOptions(nbest=2, sampling=Sampling(1.0, 0.02, 1))
        plainly(sample_batch, ensemble, *given, options)


def test_an_overflow_of_one_score_is_reported_by_greedy_search():
    model, given = exact(), batch(9)
    model.output.bias.data[5] = torch.inf
    for search in (partial(plainly, greedy_batch), partial(fixed_greedy, FixedDecoder(CPU))):
        with pytest.raises(InputError, match="take bfloat16 or float32"):
            search(Ensemble([model]), *given)


def _tensors(found, decoder, seen):
    """Yield the tensors that a recorded function holds, except tensors of networks and of its decoder."""
    if id(found) in seen or isinstance(found, (torch.nn.Module, Ensemble)) or found is decoder:
        return
    seen.add(id(found))
    if isinstance(found, torch.Tensor):
        yield found
        return
    parts = [cell.cell_contents for cell in getattr(found, "__closure__", None) or ()]
    if isinstance(found, list | tuple):
        parts += found
    # A step computes `places` anew before it reads them.
    parts += [part for name, part in getattr(found, "__dict__", {}).items() if name != "places"]
    for part in parts:
        yield from _tensors(part, decoder, seen)


@pytest.mark.parametrize("shape", ["ssru", "attention"])
@pytest.mark.parametrize("beam", [1, 4])
def test_graphs_read_nothing_that_ends_with_its_recording(monkeypatch, shape, beam):
    ensemble, decoder = Ensemble([exact(**SHAPES[shape])]), FixedDecoder(CPU)
    recorded, run = [], decoder.replays.run

    def watched(key, make):
        def made():
            recorded.append(make())
            return recorded[-1]

        run(key, made)

    monkeypatch.setattr(decoder.replays, "run", watched)
    for count in (40, 3):
        if beam == 1:
            fixed_greedy(decoder, ensemble, *batch(count))
        else:
            fixed_beam(decoder, ensemble, *batch(count), SearchOptions(beam=beam, nbest=beam))
    kept = [decoder.position, decoder.unfinished, *decoder._tables, *decoder._held.values()]
    kept += [*decoder.rows._buffers.values(), *decoder.fixed._buffers.values()]
    places = {tensor.untyped_storage().data_ptr() for tensor in kept}
    held = [one for function in recorded for one in _tensors(function, decoder, set())]
    assert len(recorded) > 3 and len(held) > 20
    for tensor in held:
        assert tensor.untyped_storage().data_ptr() in places, tuple(tensor.shape)
