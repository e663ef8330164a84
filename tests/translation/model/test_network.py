"""The network: printed parameter counts, and steps of a search compared with teacher forcing."""

from dataclasses import replace

import pytest
import torch

from tests.translation.conftest import small_architecture
from weebill.translation.model.folder import count_parameters
from weebill.translation.model.network import START, Translator, sinusoids
from weebill_runtime.architecture import Architecture


def random_case(pieces=50, rows=3):
    source = torch.randint(2, pieces, (rows, 7))
    mask = torch.ones(rows, 7, dtype=torch.bool)
    mask[1, 5:] = False
    target = torch.randint(2, pieces, (rows, 6))
    return source, mask, torch.cat([torch.full((rows, 1), START), target[:, :-1]], 1)


@pytest.mark.parametrize("kind", ["ssru", "attention"])
@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("beam", [1, 3])
def test_steps_equal_teacher_forcing(kind, tied, beam):
    torch.manual_seed(1)
    network = Translator(small_architecture(kind=kind, tied=tied)).eval()
    source, mask, inputs = random_case()
    memory = network.encode(source, mask)
    expected = network.logits(network.decode(inputs, memory, mask))
    state = network.start(memory, mask)
    state = state.select(torch.arange(len(mask)).repeat_interleave(beam))
    for position in range(inputs.shape[1]):
        logits, state = network.step(inputs[:, position].repeat_interleave(beam), state)
        for row in range(beam):
            torch.testing.assert_close(logits[row::beam], expected[:, position])


@pytest.mark.parametrize("kind", ["ssru", "attention"])
def test_a_sentence_does_not_depend_on_its_neighbours_or_padding(kind):
    torch.manual_seed(2)
    network = Translator(small_architecture(kind=kind)).eval()
    source, mask, inputs = random_case()
    together = network.decode(inputs, network.encode(source, mask), mask)
    short, whole = source[1:2, :5], torch.ones(1, 5, dtype=torch.bool)
    alone = network.decode(inputs[1:2], network.encode(short, whole), whole)
    torch.testing.assert_close(alone, together[1:2])


def test_two_vocabularies_are_halves_of_one():
    """A network with one table, of the source's rows and then the target's, gives the same scores."""
    torch.manual_seed(2)
    sources = 30
    two = Translator(replace(small_architecture(50), source_vocabulary=sources)).eval()
    one = Translator(small_architecture(sources + 50)).eval()
    both = torch.cat([two.source_embedding.weight, two.embedding.weight])
    shared = {name: t for name, t in two.state_dict().items() if name != "source_embedding.weight"}
    bias = torch.cat([torch.zeros(sources), two.output.bias])
    state = {**shared, "embedding.weight": both, "output.weight": both, "output.bias": bias}
    one.load_state_dict(state)
    source, mask, _ = random_case(sources)
    *_, inputs = random_case(50)
    expected = two.logits(two.decode(inputs, two.encode(source, mask), mask))
    shifted = torch.where(inputs == START, START, inputs + sources)
    found = one.logits(one.decode(shifted, one.encode(source, mask), mask))
    torch.testing.assert_close(found[..., sources:], expected)
    assert count_parameters(two) == two.architecture.parameters
    assert two.architecture.parameters == one.architecture.parameters - sources  # biases
    assert two.output.weight is two.embedding.weight


def test_keep_continues_the_chosen_sentences():
    torch.manual_seed(3)
    network = Translator(small_architecture(kind="attention")).eval()
    source, mask, inputs = random_case()
    memory = network.encode(source, mask)
    state = network.start(memory, mask).select(torch.arange(len(mask)).repeat_interleave(2))
    _, state = network.step(inputs[:, 0].repeat_interleave(2), state)
    full, _ = network.step(inputs[:, 1].repeat_interleave(2), state)
    kept, _ = network.step(inputs[[0, 2], 1].repeat_interleave(2), state.keep(torch.tensor([0, 2])))
    torch.testing.assert_close(kept, full[[0, 1, 4, 5]])


def test_rows_that_swap_histories_equal_teacher_forcing():
    """In 40 steps, each of a sentence's three rows may continue any of them; unused entries are forgotten."""
    torch.manual_seed(4)
    network = Translator(small_architecture(kind="attention")).eval()
    source, mask, _ = random_case()
    memory = network.encode(source, mask)
    state, histories = network.start(memory, mask), torch.empty(3, 0, dtype=torch.long)
    state = state.select(torch.arange(3).repeat_interleave(3))
    histories = histories.repeat_interleave(3, 0)  # (9, steps): each row's inputs
    for step in range(40):
        tokens = torch.full((9,), START) if step == 0 else torch.randint(2, 50, (9,))
        histories = torch.cat([histories, tokens[:, None]], 1)
        logits, state = network.step(tokens, state)
        whole = network.decode(
            histories, memory.repeat_interleave(3, 0), mask.repeat_interleave(3, 0)
        )
        torch.testing.assert_close(logits, network.logits(whole)[:, -1])
        rows = torch.randint(3, (3, 3)) + torch.arange(3)[:, None] * 3
        histories, state = histories[rows.flatten()], state.select(rows.flatten())
    assert state.ancestors.shape[2] < 3 * 40


def test_architecture_is_read_off_the_layers_and_survives_json():
    architecture = small_architecture(kind="attention", tied=False)
    with torch.device("meta"):
        network = Translator(architecture)
    assert network.architecture == architecture
    assert Architecture.from_dict(architecture.to_dict()) == architecture


def test_parameters_follow_the_papers_arithmetic():
    with torch.device("meta"):
        network = Translator(small_architecture())
    d, pieces = 16, 50
    attention = lambda heads: 4 * d * heads * 8 + 3 * heads * 8 + d  # noqa: E731
    feed_forward = lambda width: 2 * d * width + width + d  # noqa: E731
    encoder = attention(3) + feed_forward(24) + attention(1) + feed_forward(8) + 2 * 2 * 2 * d
    decoder = (2 * d * d + d) + attention(3) + feed_forward(24) + 3 * 2 * d
    assert sum(p.numel() for p in network.parameters()) == encoder + decoder + pieces * d + pieces


def test_sinusoids_are_sines_then_cosines():
    table = sinusoids(2, 3, 8, torch.device("cpu"))
    rate = 10000 ** (-2 / 3)  # the third rate of four
    assert table.shape == (3, 8)
    assert table[1, 2].item() == pytest.approx(torch.sin(torch.tensor(3 * rate)).item(), abs=1e-6)
    assert table[1, 6].item() == pytest.approx(torch.cos(torch.tensor(3 * rate)).item(), abs=1e-6)
