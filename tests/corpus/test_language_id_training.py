"""The demo's language identifier: right, small, repeatable."""

import fasttext
import pytest

from weebill.corpus.language_id_training import train_identifier
from weebill.corpus.tatoeba import LANGUAGES, read_sentences


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("identifier") / "identifier.bin"
    train_identifier(path)
    return path


@pytest.mark.parametrize("language", LANGUAGES)
def test_knows_sentences_that_it_has_not_seen(path, language):
    model = fasttext.load_model(str(path))
    assert sorted(model.get_labels()) == sorted(f"__label__{name}" for name in LANGUAGES)
    sentences = read_sentences(language, held_out=True)
    right = [model.predict(sentence)[0][0] == f"__label__{language}" for sentence in sentences]
    assert sum(right) >= 0.99 * len(sentences)


def test_knows_sentences_written_by_hand(path):
    model = fasttext.load_model(str(path))
    for sentence, label in (
        ("Die Kinder spielen heute im Garten.", "de"),
        ("The children are playing in the garden today.", "en"),
        ("Les enfants regardent la voiture dans la rue.", "fr"),
        ("De kinderen spelen vandaag in de tuin.", "nl"),
    ):
        assert model.predict(sentence)[0][0] == f"__label__{label}"


def test_small_and_repeatable(path, tmp_path):
    assert path.stat().st_size < 1_000_000
    again = tmp_path / "again.bin"
    train_identifier(again)
    assert again.read_bytes() == path.read_bytes()
    assert list(tmp_path.iterdir()) == [again]
