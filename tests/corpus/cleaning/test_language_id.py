"""Language identification on each side."""

import numpy as np
import pytest

from weebill.corpus.cleaning.filters import FILTERS
from weebill.corpus.cleaning.language_id import LanguageId, LanguageIdentifier
from weebill.corpus.cleaning.pairs import Context, Pairs
from weebill.corpus.cleaning.rules import Rules
from weebill.errors import InputError

EN = "This is an ordinary sentence in the English language."
DE = "Das ist ein gewöhnlicher Satz in deutscher Sprache."
FR = "Ceci est une phrase ordinaire en langue française."


def test_sides_are_judged_apart(lid_176):
    identifier = LanguageIdentifier(LanguageId(lid_176), ("en", "de"))
    sides = [EN, FR, EN, DE], [DE, DE, FR, EN]
    pairs = Pairs(sides, ("en", "de"), np.zeros(4, np.uint8))
    context = Context(Rules(), identifier)
    assert FILTERS["language_source"](pairs, context).tolist() == [False, True, False, True]
    assert FILTERS["language_target"](pairs, context).tolist() == [False, False, True, True]


def test_min_probability(lid_176):
    sure = LanguageIdentifier(LanguageId(lid_176, min_probability=0.9), ("en",))
    assert sure.reject([EN, "Tom, no!"], "en").tolist() == [False, True]
    with pytest.raises(ValueError, match="min_probability"):
        LanguageId(lid_176, min_probability=2)


def test_other_languages_in_multi30k(lid_176, real_text):
    from weebill.text_files import read_lines

    identifier = LanguageIdentifier(LanguageId(lid_176), ("de",))
    for language, least, most in (("de", 0.0, 0.02), ("fr", 0.99, 1.0), ("cs", 0.99, 1.0)):
        lines = list(read_lines(real_text(f"multi30k/train.{language}")))[:2000]
        rejected = identifier.reject([line.replace("\t", " ") for line in lines], "de").mean()
        assert least <= rejected <= most, language


def test_ends_judge_like_whole_lines(lid_176, real_text):
    from weebill.corpus.cleaning.normalise import normalise
    from weebill.text_files import read_lines

    identifier = LanguageIdentifier(LanguageId(lid_176), ("en", "de"))
    sides = []
    for language in ("en", "de"):
        path = real_text(f"train/onmt_wmt10k_detok.{language}")
        sides.append(normalise(list(read_lines(path))[:4000], language))
        lines = sides[-1]
        differ = identifier.reject(lines, language) != identifier.reject_whole(lines, language)
        assert differ.mean() <= 0.0005
    # The language of these lines changes midway: a look at the beginning would miss half of the wrong ones.
    mixed = [a[: len(a) // 2] + " " + b[len(b) // 2 :] for a, b in zip(*sides, strict=True)]
    wrong = identifier.reject_whole(mixed, "en")
    assert wrong.mean() > 0.8
    assert identifier.reject(mixed, "en")[wrong].mean() > 0.95


def test_bad_models(tmp_path, lid_176):
    with pytest.raises(InputError, match="no such language identification model"):
        LanguageIdentifier(LanguageId(str(tmp_path / "none.ftz")), ("en",))
    (tmp_path / "bad.ftz").write_text("not a model")
    with pytest.raises(InputError, match=r"bad\.ftz: not a fastText model"):
        LanguageIdentifier(LanguageId(str(tmp_path / "bad.ftz")), ("en",))
    with pytest.raises(InputError, match="does not know the language 'tlh'"):
        LanguageIdentifier(LanguageId(lid_176), ("en", "tlh"))
