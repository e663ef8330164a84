"""Codes of languages as tags of BCP 47 (en, sr-Latn, zh-TW), their scripts, and their spellings elsewhere.

The languages come from langcodes and Unicode's CLDR.  They are imported inside functions, because `weebill` starts
faster without them.
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from weebill.errors import InputError, nearest
from weebill_runtime.languages import primary

if TYPE_CHECKING:
    from langcodes import Language

# Languages with at most this distance in langcodes are one: no and nb (1); fa and prs differ by 4, hr and bs by 8.
ONE_LANGUAGE = 1
# Scripts of ISO 15924 that unite several scripts of Unicode, or are part of one, or have another name in Unicode.
UNITED = {
    "Hans": ("Hani",),
    "Hant": ("Hani", "Bopo"),
    "Hanb": ("Hani", "Bopo"),
    "Jpan": ("Hani", "Hira", "Kana"),
    "Hrkt": ("Hira", "Kana"),
    "Kore": ("Hang",),
    "Aran": ("Arab",),
    "Cyrs": ("Cyrl",),
    "Geok": ("Geor",),
    "Jamo": ("Hang",),
    **dict.fromkeys(("Latf", "Latg"), ("Latn",)),
    **dict.fromkeys(("Syre", "Syrj", "Syrn"), ("Syrc",)),
}
# Other codes of ISO 15924 for which Unicode has no script.
NOT_IN_UNICODE = (
    "Afak Blis Cirt Egyd Egyh Inds Kpel Leke Loma Maya Moon Nkdb Nkgb Phlv Piqd Qaaa Roro Sara Shui Teng Visp Wole "
    "Zmth Zsye Zsym Zxxx"
)
# Scripts in use that CLDR lacks, the commonest first; they come before CLDR's own.
FURTHER_SCRIPTS = {
    "ace": "Latn Arab", "bjn": "Latn Arab", "cjk": "Latn", "crh": "Cyrl Latn", "gom": "Deva Latn", "kr": "Latn Arab",
    "lad": "Hebr Latn", "lus": "Latn", "min": "Latn Arab", "mni": "Beng Mtei", "ryu": "Jpan", "taq": "Latn Tfng",
}  # fmt: skip
CASED_SCRIPTS = {"Adlm", "Armn", "Cher", "Copt", "Cyrl", "Dsrt", "Glag", "Grek", "Latn", "Osge"}


def standard_tag(label: str) -> str | None:
    """Return the tag of a language from any spelling: zh-Hant for zho_Hant, __label__zh_Hant or cmn-hant.

    Returns None if there is no such language.
    """
    language = _language(label)
    return language and language.prefer_macrolanguage().simplify_script().to_tag()


def check_language(code: str) -> None:
    """Raise InputError, with the nearest code, unless a code names a language whose script is known."""
    if _language(code) is None:
        raise InputError(
            f"no language '{code}', expected a tag of BCP 47 such as en, yue, sr-Latn or pt-BR"
            + _nearest_language(code)
        )
    if not scripts(code):
        raise InputError(f"no script known for '{code}'; name it: '{code}-Latn', '{code}-Arab', …")
    for script in unicode_scripts(code):
        if script in NOT_IN_UNICODE.split():
            raise InputError(
                f"'{code}': Unicode has no script '{script}'; name the script of the text, as in sr-Latn"
            )


@cache
def scripts(code: str) -> tuple[str, ...]:
    """Return the scripts of a language (ISO 15924), the commonest first: (Cyrl, Latn) for sr, (Latn,) for sr-Latn.

    The tuple is empty for an unknown code or script.
    """
    language = _language(code)
    if language is None:
        return ()
    if language.script:
        return (language.script,)
    known = _usual_scripts()
    usual = known.get(language.language) or known.get(_macrolanguage(language.language), ())
    likely = language.maximize().script
    # A region implies a script if this is not the usual one, as in sr-ME, or if it is Chinese.
    if language.territory and usual and (likely != usual[0] or likely in ("Hans", "Hant")):
        return (likely,)
    return usual


def unicode_scripts(code: str) -> tuple[str, ...]:
    """Return the scripts of a language's letters in Unicode: (Hani, Hira, Kana) for ja."""
    united = [part for script in scripts(code) for part in UNITED.get(script, (script,))]
    return tuple(dict.fromkeys(united))


def share_script(one: str, other: str) -> bool:
    """Return True if two languages share a script, such as ko and kor_Hang, but not zh_Hans and zh_Hant."""
    return any(
        a == b or b in UNITED.get(a, ()) or a in UNITED.get(b, ())
        for a in scripts(one)
        for b in scripts(other)
    )


def has_case(code: str) -> bool:
    """Return True if one of the language's scripts has capitals, or its scripts are unknown."""
    found = unicode_scripts(code)
    return not found or not CASED_SCRIPTS.isdisjoint(found)


@cache
def same_language(one: str, other: str) -> bool:
    """Return True if two codes, in any spelling, can mean the same text: no and nb, zh and zh_CN, fa and pes_Arab.

    Regions do not matter, unless they imply a script (zh-TW and zho_Hans differ).
    """
    from langcodes import tag_distance

    found = _language(one), _language(other)
    if None in found or not share_script(one, other):
        return False
    first, second = (language.prefer_macrolanguage().language for language in found)
    return min(tag_distance(first, second), tag_distance(second, first)) <= ONE_LANGUAGE


@cache
def covers(expected: str, found: str) -> bool:
    """Return True if the languages are the same, or the expected one is a macrolanguage of the other: ar and arz.

    Members with a code of ISO 639-1 are separate languages: ms does not cover id.
    """
    member = primary(found)
    if same_language(expected, found) or len(member) < 3:
        return same_language(expected, found)
    return share_script(expected, found) and _macrolanguage(member) == primary(expected)


def spelling(code: str, known: Iterable[str]) -> str | None:
    """Return the known code that fits a language best, None if none fits: zh_cn for zh or zh-CN."""
    from langcodes import tag_distance

    wanted = standard_tag(code)

    def distance(one: str) -> tuple:
        tag = standard_tag(one)
        return one != code, tag != wanted, tag_distance(wanted, tag), one

    return min((one for one in known if same_language(code, one)), key=distance, default=None)


def language_name(code: str) -> str:
    """Return the English name of a language, such as German for de; an unknown code is returned unchanged."""
    language = _language(code)
    return language.display_name() if language else code


def iso_639_3(code: str) -> str:
    """Return the three-letter code of a language, such as deu for de; an unknown code is returned unchanged."""
    language = _language(code)
    return language.to_alpha3() if language and language.language else code


@cache
def _language(label: str) -> "Language | None":
    from langcodes import Language, LanguageTagError, tag_is_valid

    tag = label.removeprefix("__label__").replace("_", "-")
    try:
        found = Language.get(tag)
    except LanguageTagError:
        return None
    known = found.language not in (None, "und", "mul", "mis", "zxx") and not found.extlangs
    return found if known and tag_is_valid(tag) else None


def _macrolanguage(language: str) -> str:
    from langcodes.data_dicts import MACROLANGUAGES, NORMALIZED_MACROLANGUAGES

    return {**MACROLANGUAGES, **NORMALIZED_MACROLANGUAGES}.get(language, language)


@cache
def _usual_scripts() -> dict[str, tuple[str, ...]]:
    """Return the scripts in present use by language; CLDR's supplemental data come with language_data."""
    from importlib.resources import files
    from xml.etree import ElementTree

    from langcodes.data_dicts import LIKELY_SUBTAGS

    text = files("language_data").joinpath("data/supplementalData.xml").read_text(encoding="utf-8")
    found = {}
    for language, likely in LIKELY_SUBTAGS.items():
        if re.fullmatch("[a-z]{2,3}", language) and language != "und":
            found[language] = (likely.split("-")[1],)
    for entry in ElementTree.fromstring(text).iterfind("languageData/language[@scripts]"):
        if entry.get("alt") is None:
            found[entry.get("type")] = tuple(entry.get("scripts").split())
    for language, further in FURTHER_SCRIPTS.items():
        found[language] = tuple(dict.fromkeys((*further.split(), *found.get(language, ()))))
    return found


def _nearest_language(code: str) -> str:
    """Return a suggestion for an unknown code: language of a country (jp) or name (german), or a similar code."""
    from langcodes import Language, find
    from langcodes.data_dicts import LIKELY_SUBTAGS

    beginning = re.split("[-_]", code)[0]
    country = f"und-{beginning.upper()}"
    if country in LIKELY_SUBTAGS:
        return f"; did you mean '{Language.get(country).maximize().language}'?"
    try:
        return f"; did you mean '{find(beginning).to_tag()}'?" if len(beginning) > 3 else ""
    except LookupError:
        return nearest(beginning, _usual_scripts())
