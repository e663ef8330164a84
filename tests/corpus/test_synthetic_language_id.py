"""The demo's language identifier: right, small, repeatable."""

import fasttext
import pytest

from weebill.corpus.language_id_training import identifier_sentences, train_identifier


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("identifier") / "identifier.bin"
    train_identifier(path, seed=7)
    return path


def test_knows_the_grammars_languages(path):
    model = fasttext.load_model(str(path))
    assert sorted(model.get_labels()) == ["__label__de", "__label__en", "__label__fr"]
    rows = identifier_sentences(seed=8, sentences=1000)
    right = [model.predict(sentence)[0][0] == f"__label__{language}" for language, sentence in rows]
    assert sum(right) >= 0.99 * len(rows)


def test_knows_sentences_written_by_hand(path):
    model = fasttext.load_model(str(path))
    for sentence, label in (
        ("Die Kinder spielen heute im Garten.", "de"),
        ("The children are playing in the garden today.", "en"),
        ("Les enfants regardent la voiture dans la rue.", "fr"),
    ):
        assert model.predict(sentence)[0][0] == f"__label__{label}"


def test_small_and_repeatable(path, tmp_path):
    assert path.stat().st_size < 1_000_000
    again = tmp_path / "again.bin"
    train_identifier(again, seed=7)
    assert again.read_bytes() == path.read_bytes()
    assert list(tmp_path.iterdir()) == [again]
