"""Symbols without a piece are copied, and the words of a sentence are translated."""

import pytest

from tests.small_models import TEXT, make_folder, make_vocabulary, make_whole_vocabulary
from weebill.translation.loading import load_translator
from weebill.translation.model.vocabulary import train_vocabulary
from weebill_runtime.edge_symbols import without_edges
from weebill_runtime.options import SearchOptions
from weebill_runtime.vocabulary import Vocabulary

FAMILY, SCOTLAND = (
    "👨‍👩‍👧",
    "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
)


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    return make_whole_vocabulary(tmp_path_factory.mktemp("vocabulary") / "vocab.spm")


@pytest.mark.parametrize(
    ("before", "sentence", "after"),
    [
        ("", "He has died.", " 😀"),
        ("👍🏽 ", "Good.", f" ❤️ {FAMILY}{SCOTLAND} "),
        ("", "Ein 😀 im Satz.", ""),
        ("😀", "", ""),
        ("", "It’s 5 €.", ""),
        ("", "", ""),
        ("", "  ", ""),
        ("🇩🇪", "Größe", "1️⃣"[1:]),
    ],
)
def test_divides_a_sentence(vocabulary, before, sentence, after):
    assert without_edges([before + sentence + after], vocabulary) == [(before, sentence, after)]


def test_a_symbol_with_a_piece_is_left_to_the_model(tmp_path):
    train_vocabulary([f"{line} ☺" for line in TEXT], tmp_path / "v.spm", size=60, seed=1)
    vocabulary = Vocabulary(tmp_path / "v.spm")
    assert without_edges(["a ☺", "a ☻"], vocabulary) == [("", "a ☺", ""), ("", "a", " ☻")]


@pytest.mark.parametrize("make", [make_vocabulary, make_whole_vocabulary])
def test_symbols_come_out_where_they_were(tmp_path, make):
    folder = make_folder(tmp_path / "model", make(tmp_path / "vocab.spm"))
    model, options = load_translator(folder), SearchOptions(beam=3, nbest=2)
    [plain] = model.translate(TEXT[:1])
    line = f"😀 {TEXT[0]} {FAMILY}"
    assert model.translate([line, "😀"]) == [f"😀 {plain} {FAMILY}", "😀"]
    for found, expected in zip(*model.nbest([line, TEXT[0]], options), strict=True):
        assert (found.text, found.score) == (f"😀 {expected.text} {FAMILY}", expected.score)
        assert model.scores([line], [found.text]) == model.scores(TEXT[:1], [expected.text])


def test_many_symbols_take_no_time(vocabulary):
    line = "☃ " * 50_000 + "x" + "☃" * 50_000 + "y"
    assert without_edges([line], vocabulary)[0].sentence == "x" + "☃" * 50_000 + "y"
