"""Searches on a GPU, compared with the CPU's; each test isolates one part, and prints the first difference."""

import copy
import functools
import random

import pytest
import torch

from tests.runtime.conftest import SHAPES, network, quantized
from tests.translation.search.test_fixed import batch, plainly, same_candidates
from weebill.kernels.largest import largest, largest_at_once
from weebill.translation.model.batch import pad
from weebill.translation.model.network import START, Translator
from weebill.translation.search.beam import beam_batch
from weebill.translation.search.ensemble import Ensemble
from weebill.translation.search.fixed import FixedDecoder
from weebill.translation.search.fixed_beam import fixed_beam
from weebill.translation.search.fixed_greedy import fixed_greedy
from weebill.translation.search.replay import Replays
from weebill.translation.search.run import greedy, greedy_batch, search
from weebill_runtime.architecture import Architecture, LayerShape
from weebill_runtime.options import SearchOptions

pytestmark = pytest.mark.gpu
FREE = SearchOptions(batch_size=None)


@pytest.fixture
def gpu(whole_products):
    return torch.device("cuda", torch.cuda.current_device())


def test_a_replay_repeats_the_function(gpu):
    replays, number = Replays(gpu), torch.zeros(1, device=gpu)
    for times in range(1, 5):
        with torch.inference_mode(), replays.running():
            replays.run("add", lambda: lambda: number.add_(1))
            assert int(number) == times
    replays.clear()
    with torch.inference_mode(), replays.running():
        replays.run("add", lambda: lambda: number.add_(1))
    assert len(replays) == 1
    assert replays.possible


def test_largest_at_once_is_a_stable_sort(gpu):
    for n, k in ((5, 5), (700, 4), (32001, 12)):
        values = torch.randn(50, n).mul_(4).round_()
        found, indices = largest_at_once(values.to(gpu), k)
        expected, places = largest(values, k)
        assert torch.equal(found.cpu(), expected)
        assert torch.equal(indices.cpu(), places)


def test_the_first_of_equal_pieces_wins(gpu):
    values = torch.zeros(3000, 32000, device=gpu)
    values[:, 17::1000] = 1
    assert values.argmax(-1).eq(17).all()
    assert values.half().argmax(-1).eq(17).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_greedy_in_float64_equals_the_cpu(shape, gpu):
    model = network(**SHAPES[shape]).double()
    given = batch(40)
    expected = plainly(greedy_batch, Ensemble([model]), *given)
    decoder, ensemble = FixedDecoder(gpu), Ensemble([copy.deepcopy(model).to(gpu)])
    for _ in range(2):  # captured, then replayed
        found = fixed_greedy(decoder, ensemble, *(one.to(gpu) for one in given))
        assert found == expected


@pytest.mark.parametrize(
    "shape", ["ssru", "attention", "ssru, two vocabularies", "ssru, no memory"]
)
def test_beams_equal_the_cpu(shape, gpu):
    model = network(**SHAPES[shape]).double()
    decoder, ensemble = FixedDecoder(gpu), Ensemble([copy.deepcopy(model).to(gpu)])
    for beam, nbest in ((6, 3), (3, 1), (6, 3)):
        options = SearchOptions(beam=beam, nbest=nbest)
        given = batch(21)
        expected = plainly(beam_batch, Ensemble([model]), *given, options)
        found = fixed_beam(decoder, ensemble, *(one.to(gpu) for one in given), options)
        same_candidates(found, expected)
    assert decoder.replays.possible, "steps ran, but were not captured: see the log"


def test_an_ensemble_equals_the_cpu(gpu):
    members = [network(kind="attention").double(), network(tied=False).double()]
    sources = _texts(300, 40)
    there = [copy.deepcopy(member).to(gpu) for member in members]
    options = SearchOptions(beam=4, nbest=4, batch_size=128, length_factor=0.6)
    same_candidates(search(there, sources, options), search(members, sources, options))
    assert greedy(there, sources, options) == greedy(members, sources, options)


def _student(kind: str = "ssru") -> Translator:
    """Return a network as large as a small student, whose translations have many lengths."""
    torch.manual_seed(11)
    encoder = LayerShape(8, 32, 512)
    decoder = LayerShape(8, 32, 512, 8 if kind == "attention" else 0)
    shape = Architecture(8000, 256, (encoder,) * 3, (decoder,) * 2, 2, kind)
    made = Translator(shape)
    with torch.no_grad():
        made.embedding.weight.mul_(6)
        made.output.bias.normal_(std=1.0)
        made.output.bias[0] = 4 if kind == "attention" else 8  # with more, attention ends at once
    return made.eval()


def _texts(count: int, longest: int, pieces: int = 300) -> list[list[int]]:
    draw = random.Random(5)
    return [
        [*(draw.randrange(2, pieces) for _ in range(draw.randint(1, longest))), 0]
        for _ in range(count)
    ]


@functools.cache
def _on_cpu(kind: str) -> tuple[Translator, list[list[int]], list[list[int]]]:
    """Return a student, sentences, and the CPU's pieces, computed once for all precisions."""
    model, sources = _student(kind), _texts(400, 60, 8000)
    return model, sources, greedy([model], sources, SearchOptions(batch_size=64))


def _wrong(model, sources, found, expected) -> list[str]:
    """Return a message for each translation whose first different piece is clearly less probable in CPU's float32.

    Clearly: by more than a hundredth of the deviation of the logits.
    """
    wrong = []
    for source, ours, theirs in zip(sources, found, expected, strict=True):
        if ours == theirs:
            continue
        pairs = zip([*ours, 0], [*theirs, 0], strict=False)
        place = next(index for index, (a, b) in enumerate(pairs) if a != b)
        pieces, mask = pad([source])
        with torch.inference_mode():
            target = torch.tensor([[START, *theirs[:place]]])
            logits = model.logits(model.decode(target, model.encode(pieces, mask), mask))[0, -1]
        a, b = ([*one, 0][place] for one in (ours, theirs))
        margin = float(logits[b] - logits[a]) / float(logits.std())
        if margin > 0.01:
            wrong.append(f"{source[:8]}… at {place}: {a} not {b}, margin {margin:.3g}")
    return wrong


@pytest.mark.parametrize("kind", ["ssru", "attention"])
@pytest.mark.parametrize("precision", ["float32", "float16", "bfloat16"])
def test_precisions_give_nearly_the_same_pieces(precision, kind, gpu):
    model, sources, expected = _on_cpu(kind)
    assert len({len(one) for one in expected}) > 10, "some end early, or the test says little"
    there = copy.deepcopy(model).to(gpu).to(getattr(torch, precision))
    found = greedy([there], sources, FREE)
    assert greedy([there], sources, FREE) == found  # by replays only
    same = sum(a == b for a, b in zip(found, expected, strict=True)) / len(sources)
    wrong = _wrong(model, sources, found, expected)
    print(f"{kind} {precision}: {100 * same:.2f} % the same, {len(wrong)} not ties", wrong[:3])
    least = {"float32": 0.995, "float16": 0.9, "bfloat16": 0.3}[precision]
    assert same >= least, wrong[:5]
    if precision != "bfloat16":
        assert len(wrong) <= 0.005 * len(sources), wrong[:5]


@pytest.mark.parametrize("grid", ["int8", "int8_rowwise", "log4"])
def test_grids_give_nearly_the_same_pieces(grid, gpu):
    model = quantized(network(), grid)
    sources = _texts(200, 27)
    expected = greedy([model], sources)
    there = copy.deepcopy(model).to(gpu)
    found = greedy([there], sources, FREE)
    same = sum(a == b for a, b in zip(found, expected, strict=True)) / len(sources)
    print(f"{grid}: {100 * same:.1f} % the same")
    assert same >= 0.95
    assert greedy([there.half()], sources, FREE)  # weights are read anew


def test_memory_is_bounded_and_kept(gpu):
    """A second pass, and other texts of the same lengths, need no more memory than the first pass."""
    model = _student().to(gpu).half()
    torch.cuda.reset_peak_memory_stats(gpu)
    before = torch.cuda.memory_reserved(gpu)
    sources = _texts(6000, 90, 8000)
    greedy([model], sources, FREE)
    first = torch.cuda.memory_reserved(gpu)
    greedy([model], sources[::-1], FREE)
    assert torch.cuda.memory_reserved(gpu) <= 1.05 * first
    taken = torch.cuda.max_memory_reserved(gpu) - before
    print(f"{taken / 2**30:.2f} GiB")
    assert taken < 0.25 * torch.cuda.get_device_properties(gpu).total_memory


def test_training_keeps_no_memory(gpu):
    model = _student().to(gpu).train()
    greedy([model], _texts(50, 20, 8000))
    assert model.training
    torch.cuda.empty_cache()
    held = torch.cuda.memory_allocated(gpu)
    greedy([model], _texts(50, 20, 8000))
    torch.cuda.empty_cache()
    assert torch.cuda.memory_allocated(gpu) <= held + 2**20
