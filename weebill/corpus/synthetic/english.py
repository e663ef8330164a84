"""English inflection: verbs from their principal parts, a/an, possessives, degrees of adjectives.

A verb has three persons: 0 I, 1 he/she/it, 2 you/we/they.
"""

from dataclasses import dataclass

OBJECT_FORM = {"I": "me", "you": "you", "he": "him", "she": "her", "we": "us", "they": "them"}
BE = (("am", "is", "are"), ("was", "was", "were"))
CONSONANT_SOUND = ("univers", "use", "europ", "one")  # vowel letters that sound like consonants
VOWEL_SOUND = ("hour", "honest")


@dataclass(frozen=True, slots=True)
class EnglishVerb:
    """The five forms, and the particle that follows them: "get", "gets", "got", "got", "getting"; "up"."""

    base: str
    third: str
    past: str
    participle: str
    progressive: str
    particle: str


def third_person(base: str) -> str:
    """The -s form; also the regular plural of a noun."""
    if base == "have":
        return "has"
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return base + "es"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ies"
    return base + "s"


def english_verb(parts: str, particle: str = "") -> EnglishVerb:
    """A verb from "base [past participle [progressive]]"; a lone base is regular."""
    words = parts.split(" ")
    base = words[0]
    if len(words) >= 3:
        past, participle = words[1], words[2]
    elif base.endswith("e"):
        past = participle = base + "d"
    elif base.endswith("y") and base[-2] not in "aeiou":
        past = participle = base[:-1] + "ied"
    else:
        past = participle = base + "ed"
    if len(words) == 4:
        progressive = words[3]
    elif base.endswith("e") and not base.endswith(("ee", "ye", "oe")) and base != "be":
        progressive = base[:-1] + "ing"
    else:
        progressive = base + "ing"
    return EnglishVerb(base, third_person(base), past, participle, progressive, particle)


def indefinite_article(word: str) -> str:
    """ "a" or "an" before `word`."""
    if word.startswith(VOWEL_SOUND):
        return "an"
    if word.startswith(CONSONANT_SOUND):
        return "a"
    return "an" if word[0] in "aeiou" else "a"


def verb_group(
    verb: EnglishVerb, person: int, tense: str, modal: str, support: bool
) -> tuple[str, str]:
    """(auxiliary, main verb) of a finite verb: ("is", "reading"), ("", "reads"), ("does", "read").

    tense: present, progressive, past, perfect, pluperfect or future; passive is the past passive.
    `support` asks for an auxiliary (do) even where a statement has none: questions and negation.
    Raises KeyError for an unknown tense.
    """
    if modal:
        return modal_group(verb.base, person, tense, modal, support)
    if verb.base == "be" and tense in ("present", "past"):
        return BE[tense == "past"][person], ""
    if tense == "present":
        if support:
            return ("does" if person == 1 else "do"), verb.base
        return "", (verb.third if person == 1 else verb.base)
    if tense == "past":
        return ("did", verb.base) if support else ("", verb.past)
    if tense == "progressive":
        return BE[0][person], verb.progressive
    if tense == "perfect":
        return ("has" if person == 1 else "have"), verb.participle
    return {
        "pluperfect": ("had", verb.participle),
        "future": ("will", verb.base),
        "passive": (BE[1][person], verb.participle),
    }[tense]


def modal_group(base: str, person: int, tense: str, modal: str, support: bool) -> tuple[str, str]:
    """As `verb_group`, of a modal verb and its infinitive, in the present or the past."""
    past = tense == "past"
    if modal == "can":
        return ("could" if past else "can"), base
    if modal == "should":
        return "should", base
    if modal == "would like to":
        return "would", f"like to {base}"
    if modal == "be allowed to":
        return BE[past][person], f"allowed to {base}"
    root = modal.removesuffix(" to")  # have, want
    if support:
        return ("did" if past else "does" if person == 1 else "do"), f"{root} to {base}"
    if past:
        return "", f"{'had' if root == 'have' else 'wanted'} to {base}"
    return "", f"{third_person(root) if person == 1 else root} to {base}"


def possessive(phrase: str, plural: bool) -> str:
    """Noun phrase with 's: "the boy's", "the boys'", "the children's"."""
    return phrase + ("'" if plural and phrase.endswith("s") else "'s")
