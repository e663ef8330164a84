"""Guided alignment: its loss and gradient by a plain loop, its links in the data, a head that follows them."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
import torch

from tests.translation.conftest import sentence_pairs, small_architecture
from weebill.corpus.augmentation import Augmentation, augment_table
from weebill.corpus.table import read_columns, read_schema, write_table
from weebill.errors import InputError
from weebill.translation.model.batch import make_batch
from weebill.translation.model.network import Translator
from weebill.translation.training import aligned_text
from weebill.translation.training.aligned_text import align_text
from weebill.translation.training.encoding import encode_corpus, links_field
from weebill.translation.training.loss import alignment_loss, batch_loss, guided_attention
from weebill.translation.training.settings import Stage
from weebill.translation.training.trainer import TrainingConfig, new_network, tensors_hash, train

SOURCES, TARGETS = [[5, 6, 7, 0], [8, 0]], [[9, 4, 0], [3, 2, 6, 0]]
LINKS = [np.array([[0, 1], [2, 1], [1, 0]]), np.array([[0, 2]])]


def guided_head(network, batch):
    """Return attention (b, t, s) of the first head of the last layer, computed from its weights."""
    memory = network.encode(batch.source, batch.source_mask)
    x = network.embed(batch.decoder_input)
    mask = batch.source_mask[:, None, None, :]
    *before, last = network.decoder_layers()
    for layer in before:
        x = layer(x, memory, mask)
    mixed = last.recurrence(x) if last.kind == "ssru" else last.self_attention(x, None, causal=True)
    x = last.self_norm(x + mixed)
    attention, size = last.cross_attention, last.cross_attention.head_size
    query, key = attention.query(x)[..., :size], attention.key(memory)[..., :size]
    scores = query @ key.transpose(1, 2) / size**0.5
    return scores.masked_fill(~batch.source_mask[:, None, :], -torch.inf).softmax(-1)


@pytest.mark.parametrize(
    ("kind", "tied"), [("ssru", True), ("ssru", False), ("attention", True), ("attention", False)]
)
def test_loss_and_gradient_are_those_of_a_loop(kind, tied):
    torch.manual_seed(1)
    network = Translator(small_architecture(12, kind, tied)).eval()
    batch = make_batch(SOURCES, TARGETS, [1.0, 0.25], LINKS)

    def gradients(loss):
        network.zero_grad()
        loss.backward()
        return [None if p.grad is None else p.grad.clone() for p in network.parameters()]

    plain = batch_loss(network, batch, words=7)
    head = guided_head(network, batch)
    total = 0.0
    for pair, links in enumerate(LINKS):
        for target in set(links[:, 1].tolist()):
            linked = links[links[:, 1] == target, 0].tolist()
            for source in linked:
                share = [1.0, 0.25][pair] / len(linked)
                total = total - share * torch.log(head[pair, target, source] + 1e-6)
    expected = plain + 0.1 * total / 7
    guided = batch_loss(network, batch, words=7, guided_alignment=0.1)
    assert guided.item() == pytest.approx(expected.item(), rel=1e-5)
    assert guided.item() > plain.item()
    for ours, oracle in zip(gradients(guided), gradients(expected), strict=True):
        torch.testing.assert_close(ours, oracle, rtol=1e-3, atol=1e-6)
    assert network.decoder_layers()[-1].cross_attention.record is None


def test_pairs_without_links_have_no_part():
    torch.manual_seed(1)
    network = Translator(small_architecture(12)).eval()
    none = [np.empty((0, 2))] * 2
    batch = make_batch(SOURCES, TARGETS, links=none)
    plain = batch_loss(network, batch, words=7)
    guided = batch_loss(network, batch, words=7, guided_alignment=0.1)
    # recorded attention does not use torch's fused kernel: the last bit may differ
    assert guided.item() == pytest.approx(plain.item(), rel=1e-6)
    guided.backward()


def test_a_head_that_is_gone_is_one_error():
    shape = small_architecture(12)
    network = Translator(replace(shape, decoder=(replace(shape.decoder[0], heads=0),)))
    with pytest.raises(InputError, match="no head left to guide"), guided_attention(network):
        pass


def test_the_head_of_a_copying_task_follows_its_links():
    """Targets are reversed sources, so the head first attends to the last source piece."""
    generator, letters = np.random.default_rng(1), np.arange(2, 12)
    network = new_network(small_architecture(12), seed=1)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)

    def batch():
        sources = [generator.permutation(letters)[: generator.integers(3, 7)] for _ in range(32)]
        links = [np.array([[len(s) - 1 - i, i] for i in range(len(s))]) for s in sources]
        ended = [[*s, 0] for s in sources], [[*s[::-1], 0] for s in sources]
        return make_batch(*ended, links=links)

    def agreement():
        seen = batch()
        with torch.no_grad(), guided_attention(network) as attention:
            memory = network.encode(seen.source, seen.source_mask)
            network.decode(seen.decoder_input, memory, seen.source_mask)
        pair, target, source = seen.links.unbind(1)
        return float((attention[0][pair, target].argmax(-1) == source).float().mean())

    before = agreement()
    for _ in range(400):
        optimizer.zero_grad()
        now = batch()
        batch_loss(network, now, now.words, guided_alignment=0.5).backward()
        optimizer.step()
    assert before < 0.5
    assert agreement() > 0.95


@pytest.fixture
def aligned(tmp_path, vocabulary, monkeypatch):
    """Write a text of three rows, the second an augmented copy; each piece is linked with that of its place."""

    def diagonal(pairs, size, seed, work):
        for source, target in pairs:
            yield source, target, [(i, i) for i in range(min(len(source), len(target)))]

    monkeypatch.setattr(aligned_text, "align", diagonal)
    text = pa.table(
        {
            "source": ["the cat", "THE CAT", "a child sees"],
            "target": ["die Katze", "DIE KATZE", "ein Kind sieht"],
            "augmented_by": [None, "upper_case", None],
        }
    )
    write_table(tmp_path / "text.parquet", text)
    assert (
        align_text(tmp_path / "text.parquet", tmp_path / "aligned.parquet", vocabulary, 1, 1) == 2
    )
    assert not (tmp_path / "aligned.parquet.work").exists()
    return tmp_path / "aligned.parquet"


def test_links_go_with_their_rows_into_batches(tmp_path, vocabulary, aligned):
    assert read_schema(aligned).field("links").metadata == links_field(vocabulary).metadata
    rows = read_columns(aligned, ["source", "links"]).to_pylist()
    lengths = [len(ids) - 1 for ids in vocabulary.encode([row["source"] for row in rows])]
    assert rows[1]["links"] is None
    targets = vocabulary.encode(["die Katze", "", "ein Kind sieht"])
    for row in (0, 2):
        count = min(lengths[row], len(targets[row]) - 1)
        assert rows[row]["links"] == [place for i in range(count) for place in (i, i)]
    encoded = encode_corpus([aligned], vocabulary, tmp_path / "encoded", 50, linked=True)
    batch = encoded.batch(np.array([2, 1, 0]))
    assert [len(rows[2]["links"]) // 2, 0, len(rows[0]["links"]) // 2] == torch.bincount(
        batch.links[:, 0], minlength=3
    ).tolist()
    assert torch.equal(batch.links[:, 1], batch.links[:, 2])
    assert batch.link_shares.tolist() == [1.0] * len(batch.links)
    moved = batch.to(torch.device("meta"))
    assert moved.links.device.type == "meta"


def test_links_that_are_missing_or_of_other_pieces_are_refused(
    tmp_path, vocabulary, aligned, corpus
):
    with pytest.raises(InputError, match="has no alignment"):
        encode_corpus([corpus], vocabulary, tmp_path / "encoded", 50, linked=True)
    table = read_columns(aligned, ["source", "target", "links"])
    field = pa.field("links", pa.list_(pa.uint16()), metadata={"vocabulary": "other"})
    table = table.cast(table.schema.set(2, field))
    write_table(tmp_path / "other.parquet", table)
    with pytest.raises(InputError, match="pieces of another vocabulary"):
        encode_corpus(
            [tmp_path / "other.parquet"], vocabulary, tmp_path / "encoded", 50, linked=True
        )


def test_shares_of_several_links_of_a_piece():
    batch = make_batch(SOURCES, TARGETS, links=LINKS)
    assert batch.links.tolist() == [[0, 1, 0], [0, 1, 2], [0, 0, 1], [1, 2, 0]]
    assert batch.link_shares.tolist() == [0.5, 0.5, 1.0, 1.0]
    probabilities = torch.full((2, 4, 4), 0.5)
    loss = alignment_loss(probabilities, batch, words=1)
    assert loss.item() == pytest.approx(-3 * np.log(0.5 + 1e-6))


def test_augmented_and_aligned_text_is_trained_on_in_stages(tmp_path, vocabulary):
    """The aligner eflomal works in two parts.  Words of this grammar have the same order on both sides."""
    sources, targets = zip(*sentence_pairs(), strict=True)
    text, augmented, aligned = (
        tmp_path / f"{name}.parquet" for name in ("text", "more", "aligned")
    )
    numbers = {"corpus": ["news", "web"] * 32, "row": range(64)}
    write_table(text, pa.table({"source": sources, "target": targets, **numbers}))
    languages = {"source": "en", "target": "de"}
    counts = augment_table(text, augmented, Augmentation(typos=0.5), languages, seed=1)
    assert align_text(augmented, aligned, vocabulary, seed=1, pairs_at_once=40) == 64

    rows = read_columns(aligned, ["source", "target", "links", "augmented_by"]).to_pylist()
    assert [row["links"] is None for row in rows] == [False] * 64 + [True] * counts["typos"]

    def words(sentence):
        """Return the number of each piece's word."""
        starts = [
            vocabulary.pieces[piece].startswith("▁") for piece in vocabulary.encode([sentence])[0]
        ]
        return np.cumsum(starts)

    right = [
        words(row["source"])[source] == words(row["target"])[target]
        for row in rows[:64]
        for source, target in zip(row["links"][::2], row["links"][1::2], strict=True)
    ]
    assert len(right) > 64 * 4
    assert (
        np.mean(right) > 0.75
    )  # a fifth by chance; eflomal's samples differ between kinds of processors

    stages = [Stage(4, {"web": 0}), Stage(augmented=False)]
    config = TrainingConfig(
        batch_tokens=200, updates=8, validate_every=9, guided_alignment=0.1, stages=stages
    )
    weights = []
    for weight in (0.0, 0.1):
        network = new_network(small_architecture(len(vocabulary)), seed=1)
        guided = replace(config, guided_alignment=weight)
        work = tmp_path / str(weight)
        train(network, [aligned], text, vocabulary, guided, seed=1, work=work)
        weights.append(tensors_hash(network.state_dict()))
    assert weights[0] != weights[1]
