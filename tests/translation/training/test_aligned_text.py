"""Alignment of training text: links stay with their rows in batches and trainings."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
import torch

from tests.translation.conftest import sentence_pairs, small_architecture
from weebill.corpus.augmentation import augment_table
from weebill.corpus.robustness import Augmentation
from weebill.corpus.table import read_columns, read_schema, write_table
from weebill.errors import InputError
from weebill.translation.training import aligned_text
from weebill.translation.training.aligned_text import align_text
from weebill.translation.training.encoding import encode_corpus, links_field
from weebill.translation.training.settings import Stage
from weebill.translation.training.trainer import TrainingConfig, new_network, tensors_hash, train


@pytest.fixture
def aligned(tmp_path, vocabulary, monkeypatch):
    """Write three rows, the second an augmented copy; each piece is linked with the piece at its position."""

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


@pytest.mark.workflows
def test_augmented_and_aligned_text_is_trained_on_in_stages(tmp_path, vocabulary):
    """The text is aligned in two parts.  Words of this grammar have the same order on both sides."""
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
