"""Long lines are split at sentence ends, translated whole, and joined with their spaces."""

import math
import string

import pytest

from tests.small_models import TEXT, make_folder, make_vocabulary, make_whole_vocabulary
from weebill.runtime.loading import load
from weebill.runtime.text import load_runtime
from weebill.translation.model.vocabulary import train_vocabulary
from weebill_runtime.boundaries import sentences, sentences_in_quotes
from weebill_runtime.errors import InputError
from weebill_runtime.long_lines import LineTranslator
from weebill_runtime.options import Cut, Sampling, SearchOptions
from weebill_runtime.text_translator import Hypothesis, TextTranslator
from weebill_runtime.vocabulary import Vocabulary

TEN = SearchOptions(max_source_tokens=10)


class Echo(TextTranslator):
    """Translator that returns the text itself, cut; every letter or mark is a piece.  seen: all sentences."""

    def __init__(self, change=str):
        self.seen, self._change = [], change

    def piece_counts(self, sentences):
        return [len("".join(one.split())) for one in sentences]

    def nbest(self, sentences, options, progress=None):
        self.seen += sentences
        for number, count in enumerate(self.piece_counts(sentences)):
            if count > options.max_source_tokens:
                self.on_cut(Cut(number, count, options.max_source_tokens))
        return [
            [Hypothesis(f"{self._change(one)}{rank or ''}", -rank - 1.0, (7,) * len(one))
             for rank in range(options.nbest)]
            for one in sentences
        ]  # fmt: skip

    def _score_pairs(self, sentences, translations, options):
        return [0.0 for _ in sentences]


@pytest.mark.parametrize(
    ("language", "line", "sentences"),
    [
        ("en", "Dr. Smith sang.  What did he sing? “Home.”\tAnd then!",
         ["Dr. Smith sang.", "What did he sing?", "“Home.”", "And then!"]),
        ("de", "Am 3. Oktober kam er, z. B. heute. Ja!", ["Am 3. Oktober kam er, z. B. heute.", "Ja!"]),
        ("ja", "今日は暑いですね。本当に？はい、そうです。", ["今日は暑いですね。", "本当に？", "はい、そうです。"]),
        ("zh-TW", "我們下週見面。好嗎？當然可以！", ["我們下週見面。", "好嗎？", "當然可以！"]),
        ("hi", "मैं घर गया हूँ। वह कहाँ है? यहाँ।", ["मैं घर गया हूँ।", "वह कहाँ है?", "यहाँ।"]),
        ("ar", "ذهبت إلى البيت. أين أنت؟ هنا!", ["ذهبت إلى البيت.", "أين أنت؟", "هنا!"]),
        ("ar", "بلغ السعر ٣.٥ دولار. انتهى الأمر.", ["بلغ السعر ٣.٥ دولار.", "انتهى الأمر."]),
        ("ko", "그는 “네.”라고 말했다. 나는 '왜?'라고 물었다.", ["그는 “네.”라고 말했다.", "나는 '왜?'라고 물었다."]),
        ("th", "เปิดเมื่อ พ.ศ.นี้! ทางใต้ของเมือง", ["เปิดเมื่อ พ.ศ.นี้!", "ทางใต้ของเมือง"]),
        ("my", "ကျွန်တော် ကျောင်းသားပါ။ သူသွားပြီ။", ["ကျွန်တော်", "ကျောင်းသားပါ။", "သူသွားပြီ။"]),
        ("th", "สถานีอยู่ที่ไหน ขอบคุณ มาก ฉันชอบมัน", ["สถานีอยู่ที่ไหน", "ขอบคุณ มาก", "ฉันชอบมัน"]),
        ("km", "ខ្ញុំជាសិស្ស។ គាត់ទៅ។", ["ខ្ញុំជាសិស្ស។", "គាត់ទៅ។"]),
        ("xal", "One is here. Two is there.", ["One is here.", "Two is there."]),
    ],
)  # fmt: skip
def test_sentences_and_their_spaces(language, line, sentences):
    echo = Echo()
    options = SearchOptions(max_source_tokens=max(echo.piece_counts(sentences)))
    translator = LineTranslator(echo, language)
    assert translator.translate([line, "", "short"], options) == [line, "", "short"]
    assert echo.seen == [*sentences, "", "short"]


def test_marks_of_ascii_end_chinese_sentences():
    assert sentences("你好吗?我很好.谢谢!", "zh") == ["你好吗?", "我很好.", "谢谢!"]


def test_spaces_are_those_of_the_output_script():
    """Japanese sentences have no spaces between them, English and Korean ones do."""
    numbers = iter(string.ascii_uppercase)
    to_english = LineTranslator(Echo(lambda one: f"{next(numbers)} is so."), "ja")
    assert to_english.translate(["今日は暑いです。本当ですか？そうです。"], TEN) == [
        "A is so. B is so. C is so."
    ]
    for answer, joined in (
        ("はい。", "はい。はい。"),
        ("네.", "네. 네."),
        ("네", "네 네"),
        ("ครับ", "ครับ ครับ"),
    ):
        found = LineTranslator(Echo(lambda one, answer=answer: answer), "en")
        assert found.translate(["This is one. This is two."], TEN) == [joined]


ENGLISH, GERMAN = "The dog sleeps well today.", "Der Hund schläft heute gut."
JAPANESE, CHINESE, KHMER = "昨日家に帰って寝ました。", "我昨天晚上回家睡觉", "ខ្ញុំទៅសាលារៀន"
TIBETAN = "ང་སློབ་གྲྭར་ཕྱིན"
FORTY, VIERZIG = " ".join([ENGLISH] * 40), " ".join([GERMAN] * 40)


@pytest.mark.parametrize(
    ("language", "line", "most"),
    [
        ("en", f'"{FORTY}"', 40),
        ("en", f"“{FORTY}”", 40),
        ("en", f"({FORTY})", 40),
        ("en", f"[{FORTY}]", 40),
        ("en", f"“Dr. Smith said. {FORTY}”", 41),
        ("fr", f"«{FORTY}»", 40),
        ("de", f"„{VIERZIG}“", 40),
        ("de", f"»{VIERZIG}«", 40),
        ("en", f'A 5" board. {FORTY} The other is 6" wide.', 42),
        ("ja", f"「{JAPANESE * 40}」", 40),
        ("ja", f"『{JAPANESE * 40}』", 40),
        ("zh", f"“{CHINESE}。" * 20 + "”", 21),
        ("zh", f"{CHINESE}；" * 40, 8),
        ("zh", f"{CHINESE}，" * 40, 8),
        ("km", f"{KHMER}។" * 40, 20),
        ("bo", f"{TIBETAN}།" * 40, 20),
        ("km", f"{KHMER}\u200b" * 40, 20),
        ("en", "plums and pears; " * 40, 10),
        ("en", "plums " * 60, 6),
    ],
)
def test_nothing_of_a_long_line_is_lost(language, line, most):
    """Parts are short enough, few, end at the given marks, and join to the line."""
    echo, cuts = Echo(), []
    translator = LineTranslator(echo, language)
    translator.on_cut = cuts.append
    [found] = translator.translate([line], SearchOptions(max_source_tokens=60))
    assert not cuts and len(echo.seen) <= most
    assert "".join(found.split()) == "".join(line.split())
    if line.count(" ") >= 39:  # a script with spaces: all stay
        assert found == line.strip()


def test_a_quote_is_divided_after_its_stops():
    line = "“Dr. Smith went home. ‘Mr. Jones came.’ “Yes.” (See Fig. 3.) He said it.”"
    echo = Echo()
    assert LineTranslator(echo, "en").translate([line], SearchOptions(max_source_tokens=20)) == [
        line
    ]
    assert echo.seen == [
        "“Dr. Smith went home.", "‘Mr. Jones came.’", "“Yes.”", "(See Fig. 3.)", "He said it.”"
    ]  # fmt: skip


@pytest.mark.parametrize("mark", [".", "*", "(", '"', '."', '"a'])
def test_a_long_run_of_marks_takes_no_longer_than_other_text(mark):
    line = mark * 100_000  # minutes, if every mark began a search
    assert "".join(sentences_in_quotes(line, "en")) == line


@pytest.mark.parametrize("sentence", ["他来了；她走了。", "「来吧。」他说！", "彼は来た。"])
def test_sentences_without_spaces_are_found_in_text_of_any_length(sentence):
    """sentencex alone would take half a minute."""
    assert sentences(sentence * 20_000, "zh") == sentences(sentence * 100, "zh") * 200


@pytest.mark.parametrize("divide", [sentences, sentences_in_quotes])
def test_every_space_may_stand_before_a_full_stop(divide):
    """With a space of several bytes between capital and full stop, sentencex 1.0.32 panics."""
    spaces = filter(str.isspace, map(chr, range(0x3001)))
    for space in sorted({*spaces} - {*"\n\r"}):
        line = f"I take vitamin C{space}. “You{space}do.” It helps."
        assert divide(line, "en")[-1] == "It helps." and "".join(divide(line, "en")) == line


@pytest.mark.parametrize("space", ["\u3000", " "])
def test_spaces_that_are_pieces_count(tmp_path, space):
    """In real pieces of Japanese text, an ideographic space may be a separate piece."""
    texts = ["東京　大阪　京都", "東京は大きい町です。", "大阪の人が東京に行く。"] * 10
    path = tmp_path / "vocab.spm"
    train_vocabulary(texts, path, size=22, seed=1, byte_fallback=False)
    vocabulary = Vocabulary(path)

    class Pieces(Echo):
        def piece_counts(self, sentences):
            return [len(one) - 1 for one in vocabulary.encode_input(sentences)]

    echo, cuts = Pieces(), []
    translator = LineTranslator(echo, "ja")
    translator.on_cut = cuts.append
    line = f"東京{space}" * 300
    [found] = translator.translate([line], SearchOptions(max_source_tokens=50))
    assert not cuts and max(echo.piece_counts(echo.seen)) <= 50
    assert found.count("東京") == 300


def test_what_cannot_be_split_is_named_by_its_line():
    translator, cuts = LineTranslator(Echo(), "en"), []
    translator.on_cut = cuts.append
    translator.translate(
        ["Short one.", "One is it. Nobodyknowsthisword. Two.", "abcdefghijklm"], TEN
    )
    assert cuts == [Cut(1, 20, 10), Cut(2, 13, 10)]


@pytest.mark.parametrize("method", ["translate", "nbest"])
def test_a_line_with_more_pieces_than_bytes_is_split(method):
    """Normalisation lengthens some letters, and Hugging Face's models add pieces of their own."""

    class Doubled(Echo):
        def piece_counts(self, sentences):
            return [2 * count for count in super().piece_counts(sentences)]

    echo, cuts, progress = Doubled(), [], []
    translator = LineTranslator(echo, "en")
    translator.on_cut = cuts.append
    lines = ["abcdefghijklm", "Yes, yes, oh yes.", "", "No."]
    options = SearchOptions(max_source_tokens=20)
    found = getattr(translator, method)(lines, options, progress.append)
    assert [one if method == "translate" else one[0].text for one in found] == lines
    assert echo.seen[-5:] == ["abcdefghijklm", "Yes, yes,", "oh yes.", "", "No."]
    assert cuts == [Cut(0, 26, 20)]


def test_letters_that_become_two_are_not_cut(tmp_path):
    """Unicode's NFC has two letters for क़; this vocabulary has neither, and spells them by six bytes."""
    folder = make_folder(tmp_path / "model", make_whole_vocabulary(tmp_path / "vocab.spm"))
    translator, cuts = load(folder), []
    translator.on_cut = cuts.append
    words = ["\u0958" * 8] * 2
    options = SearchOptions(max_source_tokens=50)
    assert len(" ".join(words).encode()) < 50
    assert translator.translate([" ".join(words)], options) == [
        " ".join(translator.translate(words, options))
    ]
    assert not cuts


def test_the_best_translations_of_a_line_join_those_of_its_sentences():
    line = "This is one. These are two."
    for options in (
        SearchOptions(beam=3, nbest=3, max_source_tokens=13, length_normalisation=1.0),
        SearchOptions(nbest=3, max_source_tokens=13, sampling=Sampling()),
    ):
        [found] = LineTranslator(Echo(), "en").nbest([line], options)
        assert [one.text for one in found] == [
            line, "This is one.1 These are two.1", "This is one.2 These are two.2"
        ]  # fmt: skip
        assert [one.score for one in found] == pytest.approx([-1, -2, -3])
        assert len(found[0].pieces) == len("This is one.These are two.")


def test_a_line_of_forty_sentences_is_translated_whole(tmp_path):
    """The runtime translates a line as its sentences one by one, including the last sentence."""
    folder = make_folder(tmp_path / "model", make_vocabulary(tmp_path / "vocab.spm"))
    sentences = [f"{TEXT[n % len(TEXT)].rstrip('.').capitalize()}." for n in range(40)]
    alone, translator = load_runtime(folder).translate(sentences), load(folder)
    assert translator.translate([" ".join(sentences)]) == [" ".join(alone)]
    assert translator.translate(sentences) == alone
    [found] = translator.nbest([" ".join(sentences)], SearchOptions(beam=2, nbest=2))
    assert len(found) == 2 and all(math.isfinite(one.score) for one in found)
    assert translator.isa == load_runtime(folder).isa  # other attributes come from the runtime


def test_without_sentencex_a_long_line_is_named(tmp_path, monkeypatch):
    folder = make_folder(tmp_path / "model", make_vocabulary(tmp_path / "vocab.spm"))
    monkeypatch.setattr("weebill_runtime.long_lines.find_spec", lambda name: None)
    with load(folder) as translator:
        assert translator.translate(TEXT[:2])
        with pytest.raises(
            InputError, match="line 2 has more than 200 pieces, and sentencex is not"
        ):
            translator.translate([TEXT[0], " ".join(TEXT * 20)])
