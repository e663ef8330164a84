"""Two vocabularies: sides, identity, and files; the record of the normalisation in a file."""

from sentencepiece.sentencepiece_model_pb2 import ModelProto

from tests.small_models import make_whole_vocabulary
from tests.translation.conftest import sentence_pairs
from weebill_runtime.vocabulary import (
    VocabularyPair,
    _normalizer_name,
    copy_vocabulary,
    read_vocabulary,
)


def test_each_side_has_its_own_pieces(pair):
    sources, targets = (list(side) for side in zip(*sentence_pairs(), strict=True))
    assert pair.sizes == (36, 30) == (len(pair.target), len(pair.source))
    assert pair.source.decode(pair.source.encode(sources)) == sources
    assert pair.target.decode(pair.target.encode(targets)) == targets
    assert 1 in pair.source.encode(targets)[0], "the source's has no German letters"


def test_a_pair_is_identified_by_both_in_order(pair, vocabulary):
    others = [
        VocabularyPair(pair.target, pair.source),
        VocabularyPair(pair.source, vocabulary),
        VocabularyPair(vocabulary, pair.target),
    ]
    assert len({pair.sha256, *(one.sha256 for one in others)}) == 4
    assert VocabularyPair(pair.source, pair.target).sha256 == pair.sha256


def test_files_give_it_back(tmp_path, pair, vocabulary):
    copy_vocabulary(pair, tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["source.spm", "vocab.spm"]
    again = read_vocabulary(tmp_path / "vocab.spm", tmp_path / "source.spm")
    assert (again.sha256, again.about) == (pair.sha256, pair.about)
    one = read_vocabulary(vocabulary.path)
    assert one.source is one.target is one and list(one.files) == ["vocab.spm"]


def test_the_record_is_read_without_the_library_of_protocol_buffers(tmp_path, vocabulary):
    with_record = make_whole_vocabulary(tmp_path / "vocab.spm").path
    for path in (with_record, vocabulary.path):
        expected = ModelProto.FromString(path.read_bytes()).normalizer_spec.name
        assert _normalizer_name(path.read_bytes()) == expected != ""
