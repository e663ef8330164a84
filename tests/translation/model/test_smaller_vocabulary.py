"""Vocabularies cut to frequent pieces, and students that keep the rows of these pieces."""

import pytest
import torch

from tests.small_models import TEXT, make_network, make_whole_vocabulary
from tests.translation.conftest import small_architecture
from weebill.errors import InputError
from weebill.translation.model.folder import load_model, save_model
from weebill.translation.model.network import Translator
from weebill.translation.model.smaller_vocabulary import cut_vocabulary, make_student
from weebill_runtime.vocabulary import Vocabulary, VocabularyPair

SIZE = 304


@pytest.fixture
def vocabularies(tmp_path):
    whole = make_whole_vocabulary(tmp_path / "whole.spm")
    cut_vocabulary(whole, TEXT[:2], SIZE, tmp_path / "small.spm")
    return whole, Vocabulary(tmp_path / "small.spm")


def test_common_pieces_bytes_and_characters_stay_in_order(vocabularies):
    whole, small = vocabularies
    assert len(small) == SIZE and len(whole) == 310
    assert small.pieces == [piece for piece in whole.pieces if piece in {*small.pieces}]
    assert len(small.byte_pieces) == 256 and small.normalisation == whole.normalisation
    gone = {*whole.pieces} - {*small.pieces}
    assert len(gone) == 6 and min(map(len, gone)) > 1
    for line in [*TEXT, "Übergrößen für 😀 & “Zitate”"]:
        assert small.decode(small.encode([line])) == whole.decode(whole.encode([line]))
    [pieces] = whole.encode(TEXT[:1])  # text of kept pieces is encoded alike
    if gone.isdisjoint(whole.pieces[number] for number in pieces):
        assert [small.pieces[i] for i in small.encode(TEXT[:1])[0]] == [
            whole.pieces[i] for i in pieces
        ]


def test_sizes_that_cannot_be_are_refused(tmp_path, vocabularies):
    whole, _ = vocabularies
    for size in (311, 260):
        with pytest.raises(InputError, match=r"has 310 pieces, of which \d+ always stay, and the"):
            cut_vocabulary(whole, TEXT, size, tmp_path / "no.spm")
    assert not (tmp_path / "no.spm").exists()


ENTRY = {"embedding": 16, "feed_forward": 32, "heads": 2, "attention_width": 16}
ENTRY |= {"encoder_layers": 1, "decoder_layers": 1, "decoder_tied": False, "decoder": "ssru"}


def test_a_student_has_the_scores_of_its_pieces(tmp_path, vocabularies):
    whole, small = vocabularies
    network = make_network(len(whole))
    network.guided = True
    save_model(tmp_path / "published", network, whole, {})
    make_student(tmp_path / "published", [small.path], ENTRY, tmp_path / "student")
    student = load_model(tmp_path / "student")
    assert student.network.guided and student.config["lineage"]["course"]["updates"] == 0
    rows = [whole.pieces.index(piece) for piece in small.pieces]
    own = torch.tensor([[5, 300, 290, 0]])
    theirs = torch.tensor(rows)[own]
    mask = torch.ones_like(own, dtype=torch.bool)
    with torch.no_grad():
        found, expected = (
            one.logits(one.decode(ids, one.encode(ids, mask), mask))
            for one, ids in ((student.network, own), (network, theirs))
        )
    torch.testing.assert_close(found, expected[..., rows])


def test_another_shape_is_refused_with_the_published_one(tmp_path, vocabularies):
    whole, _ = vocabularies
    save_model(tmp_path / "published", make_network(len(whole)), whole, {})
    with pytest.raises(
        InputError, match=r"models.yaml: \{embedding: 16, feed_forward: 32, heads: 2"
    ):
        make_student(tmp_path / "published", [whole.path], {**ENTRY, "heads": 4}, tmp_path / "no")


def test_two_vocabularies_are_cut_each(tmp_path, vocabularies):
    whole, small = vocabularies
    torch.manual_seed(1)
    shape = small_architecture(len(whole))
    network = Translator(type(shape)(**{**vars(shape), "source_vocabulary": len(whole)}))
    save_model(tmp_path / "published", network, VocabularyPair(whole, whole), {})
    files = [whole.path, small.path]  # of the target and the source
    entry = {**ENTRY, "embedding": 16}
    with pytest.raises(InputError, match=r"vocabulary\.joint to false"):
        make_student(tmp_path / "published", files[:1], entry, tmp_path / "student")
