"""Agreement of alignments: full for a student with itself, even in other pieces, and low for another student."""

from tests.small_models import TEXT, make_folder, make_whole_vocabulary
from weebill.evaluation.quality.alignment import PublishedAlignments, measure_agreement
from weebill.translation.model.folder import Model, load_model
from weebill.translation.model.smaller_vocabulary import cut_vocabulary, with_vocabulary
from weebill_runtime.vocabulary import Vocabulary

SOURCES, TARGETS = TEXT[::2], TEXT[1::2]


def test_agreement(tmp_path):
    vocabulary = make_whole_vocabulary(tmp_path / "vocab.spm")
    one, other = (
        load_model(make_folder(tmp_path / str(seed), vocabulary, seed)) for seed in (1, 2)
    )
    published = PublishedAlignments(one, SOURCES, TARGETS)
    itself = measure_agreement("one", one, published)
    pieces = sum(len(ids) - 1 for ids in vocabulary.encode(TARGETS))
    assert (itself.lines, itself.pieces, itself.equal) == (3, pieces, pieces)
    assert measure_agreement("two", other, published).equal < pieces / 2

    cut_vocabulary(vocabulary, TEXT, len(vocabulary) - 2, tmp_path / "small.spm")
    small = Vocabulary(tmp_path / "small.spm")
    network = with_vocabulary(one.network, vocabulary, small)
    found = measure_agreement("small", Model(tmp_path, network, small, {}), published)
    assert found.pieces == sum(len(ids) - 1 for ids in small.encode(TARGETS)) > pieces
    assert found.equal > found.pieces / 3
