"""Language identification of each side."""

import numpy as np
import pytest

from weebill.corpus.cleaning.filters import FILTERS
from weebill.corpus.cleaning.language_id import LanguageId, LanguageIdentifier
from weebill.corpus.cleaning.pairs import Context, Pairs
from weebill.corpus.cleaning.rules import Rules
from weebill.corpus.language_codes import unicode_scripts
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


def test_other_languages_in_multi30k(lid_176, real_text):
    from weebill.text_files import read_lines

    identifier = LanguageIdentifier(LanguageId(lid_176), ("de",))
    for language, least, most in (("de", 0.0, 0.02), ("fr", 0.99, 1.0), ("cs", 0.99, 1.0)):
        lines = list(read_lines(real_text(f"multi30k/train.{language}")))[:2000]
        rejected = identifier.reject([line.replace("\t", " ") for line in lines], "de").mean()
        assert least <= rejected <= most, language


def test_ends_judge_like_whole_lines(lid_176, real_text):
    from weebill.text_files import read_lines
    from weebill_runtime.normalisation import normalise

    identifier = LanguageIdentifier(LanguageId(lid_176), ("en", "de"))
    sides = []
    for language in ("en", "de"):
        path = real_text(f"train/onmt_wmt10k_detok.{language}")
        sides.append(normalise(list(read_lines(path))[:4000], language))
        lines = sides[-1]
        differ = identifier.reject(lines, language) != identifier.reject_whole(lines, language)
        assert differ.mean() <= 0.0005
    # The language of these lines changes in the middle: their beginnings alone would hide half of the wrong lines.
    mixed = [a[: len(a) // 2] + " " + b[len(b) // 2 :] for a, b in zip(*sides, strict=True)]
    wrong = identifier.reject_whole(mixed, "en")
    assert wrong.mean() > 0.8
    assert identifier.reject(mixed, "en")[wrong].mean() > 0.95


class StandIn:
    """Identifier with given labels, and a known label for each line."""

    def __init__(self, labels, lines):
        self.labels, self.lines = [f"__label__{label}" for label in labels], lines

    def get_labels(self):
        return self.labels

    def predict(self, texts):
        found = [f"__label__{self.lines[text]}" for text in texts]
        return [[label] for label in found], [[0.9]] * len(found)


@pytest.fixture
def stand_in(monkeypatch, tmp_path):
    """Return a function that makes an identifier from the label of each line, and further labels."""
    import fasttext

    (tmp_path / "model").write_text("")

    def make(languages, lines, labels=(), **settings):
        model = StandIn({*labels, *lines.values()}, lines)
        monkeypatch.setattr(fasttext, "load_model", lambda path: model)
        return LanguageIdentifier(LanguageId(str(tmp_path / "model"), **settings), languages)

    return make


def _rejected(identifier, languages, pair):
    batch = Pairs(([pair[0]], [pair[1]]), languages, np.zeros(1, np.uint8))
    names, context = ("language_source", "language_target"), Context(Rules(), identifier)
    return [name for name in names if FILTERS[name](batch, context).any()]


@pytest.mark.parametrize("labels", ["en de", "eng_Latn deu_Latn", "eng deu", "en-US de-DE"])
def test_labels_of_any_style(stand_in, labels):
    identifier = stand_in(("en", "de"), dict(zip((EN, DE), labels.split(), strict=True)))
    assert _rejected(identifier, ("en", "de"), (EN, DE)) == []
    assert _rejected(identifier, ("en", "de"), (DE, EN)) == ["language_source", "language_target"]
    with pytest.raises(InputError, match="does not know the language 'fr'"):
        stand_in(("en", "fr"), {EN: labels.split()[0]})


@pytest.mark.parametrize(
    ("language", "label", "accepted"),
    [
        ("zh", "zho_Hans", True), ("zh", "cmn_Hani", True), ("zh", "jpn_Jpan", False),
        ("ar", "arb_Arab", True), ("ar", "arz_Arab", True), ("fa", "pes_Arab", True),
        ("hr", "bos_Latn", True), ("hr", "sr", True), ("hr", "srp_Cyrl", False), ("hr", "slv_Latn", False),
        ("ms", "ind_Latn", True), ("id", "zsm_Latn", True), ("gl", "por_Latn", True), ("gl", "spa_Latn", False),
        ("nb", "no", True), ("nb", "nno_Latn", True), ("nn", "da", True), ("da", "sv", False),
        ("lv", "lvs_Latn", True), ("sw", "swh_Latn", True), ("uz", "uzn_Latn", True),
        ("ko", "kor_Hang", True), ("zh-TW", "cmn_Hani", True), ("zh-TW", "zho_Hans", False),
        ("yue", "zh", True), ("yue", "zho_Hant", True), ("yue", "jpn_Jpan", False), ("wuu", "yue", False),
        ("arz", "ar", True), ("arz", "fa", False),
    ],
)  # fmt: skip
def test_similar_languages_are_accepted(stand_in, language, label, accepted):
    line, languages = "abcd" * 5, ("en", language)
    line = {"Hani": "木" * 20, "Hang": "가" * 20, "Arab": "ب" * 20}.get(
        unicode_scripts(language)[0], line
    )
    lines = {line: label, EN: "en"}
    identifier = stand_in(languages, lines, labels=[language])
    assert _rejected(identifier, languages, (EN, line)) == ["language_target"] * (not accepted)
    if language in ("hr", "ms", "id", "gl", "arz"):
        strict = stand_in(languages, lines, labels=[language], accept_similar=False)
        assert _rejected(strict, languages, (EN, line)) == ["language_target"]


def test_the_other_sides_language_is_never_accepted(stand_in):
    line, languages = "abcd" * 5, ("da", "nb")
    identifier = stand_in(languages, {line: "da"}, labels=["no"])
    assert _rejected(identifier, languages, (line, line)) == ["language_target"]


def test_further_languages_are_accepted_by_a_key(stand_in):
    lines, languages = {EN: "en", "abcd" * 5: "es"}, ("en", "gl")
    for accept in ((), ("es",)):
        identifier = stand_in(languages, lines, labels=["gl"], accept=accept)
        assert bool(_rejected(identifier, languages, tuple(lines))) == (not accept)


@pytest.mark.parametrize(
    ("language", "source", "target"),
    [
        ("de", "WHAT ELSE IS HAPPENING?", "WAS PASSIERT SONST NOCH?"),
        ("de", "MY FRIEND IS A BIRD", "MEIN FREUND IST EIN VOGEL"),
        ("de", "THE NEW York TIMES IS READ HERE", "DIE NEW York TIMES WIRD HIER GELESEN"),
        ("de", "Yes.", "Ja."),
        ("de", "No!", "Nein!"),
        ("fr", "Thanks!", "Merci !"),
        ("ru", "I KNOW WHERE YOU LIVE", "Я ЗНАЮ, ГДЕ ТЫ ЖИВЁШЬ"),
        ("hr", "She went to school by bus.", "U školu je otišla autobusom."),
    ],
)
def test_capitals_and_short_lines_are_kept(lid_176, language, source, target):
    identifier = LanguageIdentifier(LanguageId(lid_176), ("en", language))
    assert _rejected(identifier, ("en", language), (source, target)) == []


def test_short_lines_are_asked_about_by_a_key(lid_176):
    identifier = LanguageIdentifier(LanguageId(lid_176, min_letters=0), ("en", "de"))
    assert _rejected(identifier, ("en", "de"), ("Yes.", "Ja.")) == ["language_target"]
    assert _rejected(identifier, ("en", "de"), (EN.upper(), FR.upper())) == ["language_target"]


@pytest.mark.parametrize("pair", ["de deu", "ru rus", "fr fra", "tr tur", "hr hrv"])
def test_capitals_are_kept_like_plain_text(lid_176, real_text, pair):
    from weebill.text_files import read_lines

    language, name = pair.split()
    identifier = LanguageIdentifier(LanguageId(lid_176), ("en", language))
    for code, file in (("en", "eng"), (language, name)):
        lines = list(read_lines(real_text(f"flores/{file}.devtest")))[:400]
        capitals = [line.upper() for line in lines]
        plain, capital = (~identifier.reject(text, code) for text in (lines, capitals))
        assert capital.sum() >= 0.9 * plain.sum()


def test_scripts_of_one_language_decide(lid_176):
    identifier = LanguageIdentifier(LanguageId(lid_176), ("en", "ja"))
    lines = [
        "僕はトム。君は？",
        "我是汤姆。你是谁啊？",
        "This line has a ン in it, and a long English rest.",
    ]
    assert identifier.reject(lines, "ja").tolist() == [False, True, True]
    assert identifier.reject_whole(lines, "ja").tolist() == [True, True, True]  # labelled Chinese


def test_bad_models(tmp_path, lid_176):
    with pytest.raises(InputError, match="no such language identification model"):
        LanguageIdentifier(LanguageId(str(tmp_path / "none.ftz")), ("en",))
    (tmp_path / "bad.ftz").write_text("not a model")
    with pytest.raises(InputError, match=r"bad\.ftz: not a fastText model"):
        LanguageIdentifier(LanguageId(str(tmp_path / "bad.ftz")), ("en",))
    with pytest.raises(InputError, match="does not know the language 'tlh'"):
        LanguageIdentifier(LanguageId(lid_176), ("en", "tlh"))
