"""Raw text fits a vocabulary of cleaned text nearly as well as cleaned text does."""

import pytest

from tests.translation.model.test_charsmap import LANGUAGES, SIZES
from weebill.text_files import read_lines
from weebill.translation.model.vocabulary_fit import measure_fit


@pytest.mark.parametrize("language", LANGUAGES)
def test_text_as_written_fits_like_cleaned_text(real_text, language):
    lines = list(read_lines(real_text(f"flores/{LANGUAGES[language]}.devtest")))
    fit = measure_fit(lines, language, SIZES.get(language, 1500), tokenizer="char")
    assert fit.round_trip_bleu > 99.95
    assert fit.rare_as_written <= fit.rare_cleaned + 0.02, fit


def test_counts_by_hand():
    lines = ["ab ca “ab” b c", "abc abc ab ca", "ca b c a", "a ☃ b c", "b c ca", "“a b c ab”"] * 20
    fit = measure_fit(lines, "de", 264)
    assert fit.round_trip_bleu == pytest.approx(100)
    assert fit.rare_as_written == fit.rare_cleaned == pytest.approx(1 / 3)
