"""Language codes are tags of BCP 47 in any spelling; expected from ISO 639, ISO 15924, CLDR and sets of labels."""

import subprocess
import sys

import pytest
import regex
from langcodes.data_dicts import LIKELY_SUBTAGS

from weebill.corpus.cleaning.letters import letters
from weebill.corpus.language_codes import (
    NOT_IN_UNICODE,
    check_language,
    covers,
    has_case,
    iso_639_3,
    same_language,
    scripts,
    spelling,
    standard_tag,
    unicode_scripts,
)
from weebill.errors import InputError
from weebill_runtime.languages import primary

# Indian, African, South-East Asian and smaller languages of FLORES, Tatoeba and OPUS.
CODES = "de ja kn ml my lo pa si am or ku ckb jv ceb yue sr as ff ha luo nso ti bo dz gsw grc nb nn tl fil ug"


@pytest.mark.parametrize("code", CODES.split())
def test_a_language_of_iso_639_is_known(code):
    check_language(code)


def test_spellings_of_one_tag():
    for label in ("zh-Hant", "zho_Hant", "__label__zho_Hant", "ZH_hant", "cmn-Hant"):
        assert standard_tag(label) == "zh-Hant"
    assert [standard_tag(label) for label in ("__label__eng_Latn", "pt_br", "iw", "tl")] == [
        "en",
        "pt-BR",
        "he",
        "fil",
    ]
    assert standard_tag("xx") is standard_tag("") is standard_tag("und") is None
    assert (primary("zh_TW"), primary("sr-Latn"), primary("xx_YY")) == ("zh", "sr", "xx")
    assert iso_639_3("de") == "deu" and iso_639_3("gsw") == "gsw" and iso_639_3("zh-TW") == "zho"


def test_scripts():
    assert scripts("sr") == ("Cyrl", "Latn") and scripts("sr-Latn") == ("Latn",)
    assert scripts("sr-RS") == ("Cyrl", "Latn") and scripts("sr-ME") == ("Latn",)
    assert scripts("zh-TW") == ("Hant",) and scripts("zh_CN") == ("Hans",)
    assert unicode_scripts("ja") == ("Hani", "Hira", "Kana") and unicode_scripts("ko") == ("Hang",)
    assert scripts("crh_Latn") == ("Latn",) and scripts("crh") == ("Cyrl", "Latn")
    assert scripts("lus")[0] == scripts("cjk")[0] == "Latn" and "Mtei" in scripts("mni")
    assert scripts("ckb") == scripts("pbt") == ("Arab",) and scripts("qaa") == ()
    cased = [
        code for code in ("en", "ru", "el", "hy", "ka", "ja", "ar", "hi", "qaa") if has_case(code)
    ]
    assert cased == ["en", "ru", "el", "hy", "qaa"]


@pytest.mark.parametrize(
    ("one", "other", "same", "covered"),
    [
        ("no", "nb", True, True),
        ("no", "nn", False, False),
        ("fil", "tl", True, True),
        ("zh", "zho_Hant", True, True),
        ("zh-TW", "zho_Hans", False, False),
        ("zh-TW", "zho_Hani", True, True),
        ("ko", "kor_Hang", True, True),
        ("ja", "jpn_Hira", True, True),
        ("ja", "zho_Hani", False, False),
        ("ur", "urd_Aran", True, True),
        ("zh-TW", "zh", True, True),
        ("sr", "srp_Cyrl", True, True),
        ("sr-Latn", "srp_Cyrl", False, False),
        ("sr", "hr", False, False),
        ("fa", "pes_Arab", True, True),
        ("ms", "zsm_Latn", True, True),
        ("ms", "id", False, False),
        ("ar", "arz_Arab", False, True),
        ("arz", "ar", False, False),
        ("ps", "pbt_Arab", False, True),
        ("zh", "yue", False, True),
        ("de", "xx", False, False),
    ],
)
def test_codes_that_mean_the_same(one, other, same, covered):
    assert same_language(one, other) == same_language(other, one) == same
    assert covers(one, other) == covered


def test_the_nearest_spelling_of_a_component():
    assert spelling("zh", ["zh_tw", "zh_cn"]) == "zh_cn" and spelling("zh", ["zh_cn", "zh"]) == "zh"
    assert spelling("zh-TW", ["zh_cn", "zh_tw"]) == "zh_tw" and spelling("zh-TW", ["zh_cn"]) is None
    assert spelling("pt-BR", ["pt", "pt_br"]) == "pt_br" and spelling("pt-BR", ["pt"]) == "pt"
    assert spelling("nb", ["da", "no"]) == "no" and spelling("de", ["xx"]) is None


@pytest.mark.parametrize(
    ("code", "near"), [("jp", "ja"), ("cz", "cs"), ("german", "de"), ("deu-Latin", ""), ("xx", "")]
)
def test_an_unknown_language_is_refused_with_the_nearest(code, near):
    with pytest.raises(InputError, match=rf"^no language '{code}', expected a tag") as caught:
        check_language(code)
    assert str(caught.value).endswith(f"; did you mean '{near}'?" if near else "pt-BR")


def test_a_language_without_a_known_script_is_refused():
    with pytest.raises(InputError, match=r"^no script known for 'qaa'; name it: 'qaa-Latn'"):
        check_language("qaa")
    check_language("qaa-Latn")


def test_scripts_that_unicode_has_under_another_name_or_not_at_all():
    assert unicode_scripts("deu_Latf") == ("Latn",) and has_case("deu_Latf")
    parts = {"cu-Cyrs": "Cyrl", "syr-Syrj": "Syrc", "ka-Geok": "Geor", "ga-Latg": "Latn"}
    for code, script in parts.items():
        assert letters(code)[ord({"Cyrl": "ж", "Syrc": "ܒ", "Geor": "ბ", "Latn": "b"}[script])]
    with pytest.raises(InputError, match="Unicode has no script 'Piqd'"):
        check_language("tlh-Piqd")
    for script in NOT_IN_UNICODE.split():
        with pytest.raises(regex.error):
            regex.compile(rf"\p{{scx={script}}}")
    usual = {script for code in LIKELY_SUBTAGS for script in unicode_scripts(code)}
    assert len(usual) > 100 and all(regex.compile(rf"\p{{scx={script}}}") for script in usual)


def test_commands_start_without_langcodes():
    code = "import sys, weebill.__main__ as m; m.main(['describe', 'tiny']); print('langcodes' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "False"
