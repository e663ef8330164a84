"""German inflection: articles, adjective endings, nouns and verbs by rule from their principal parts.

Cases are indices: NOMINATIVE, ACCUSATIVE, DATIVE, GENITIVE.  Genders are "m", "f", "n", and "p" for every plural.
A verb has three persons in the grammar (there is no du or ihr): 0 ich, 1 er/sie/es, 2 wir/sie/Sie.
"""

from dataclasses import dataclass

NOMINATIVE, ACCUSATIVE, DATIVE, GENITIVE = range(4)
CASES = {"nom": NOMINATIVE, "acc": ACCUSATIVE, "dat": DATIVE, "gen": GENITIVE}

DEFINITE = {
    "m": ("der", "den", "dem", "des"),
    "f": ("die", "die", "der", "der"),
    "n": ("das", "das", "dem", "des"),
    "p": ("die", "die", "den", "der"),
}
RELATIVE = {
    "m": ("der", "den", "dem", "dessen"),
    "f": ("die", "die", "der", "deren"),
    "n": ("das", "das", "dem", "dessen"),
    "p": ("die", "die", "denen", "deren"),
}
EIN_ENDINGS = {  # ein, kein, mein, ...: no ending in three places
    "m": ("", "en", "em", "es"),
    "f": ("e", "e", "er", "er"),
    "n": ("", "", "em", "es"),
    "p": ("e", "e", "en", "er"),
}
DIESER_ENDINGS = {  # dieser, jeder, welcher, alle, viele: the endings of the definite article
    "m": ("er", "en", "em", "es"),
    "f": ("e", "e", "er", "er"),
    "n": ("es", "es", "em", "es"),
    "p": ("e", "e", "en", "er"),
}
ADJECTIVE_ENDINGS = {
    "weak": {  # after der, dieser, jeder, welcher, alle
        "m": ("e", "en", "en", "en"),
        "f": ("e", "e", "en", "en"),
        "n": ("e", "e", "en", "en"),
        "p": ("en", "en", "en", "en"),
    },
    "mixed": {  # after ein, kein, mein
        "m": ("er", "en", "en", "en"),
        "f": ("e", "e", "en", "en"),
        "n": ("es", "es", "en", "en"),
        "p": ("en", "en", "en", "en"),
    },
    "strong": {  # without an article, after numbers, viele, einige, a name in the genitive
        "m": ("er", "en", "em", "en"),
        "f": ("e", "e", "er", "er"),
        "n": ("es", "es", "em", "en"),
        "p": ("e", "e", "en", "er"),
    },
}
PERSONAL = {  # English subject form -> nominative, accusative, dative
    "I": ("ich", "mich", "mir"),
    "you": ("Sie", "Sie", "Ihnen"),
    "he": ("er", "ihn", "ihm"),
    "she": ("sie", "sie", "ihr"),
    "we": ("wir", "uns", "uns"),
    "they": ("sie", "sie", "ihnen"),
}
PRONOUN_OF_GENDER = {
    "m": ("er", "ihn", "ihm"),
    "f": ("sie", "sie", "ihr"),
    "n": ("es", "es", "ihm"),
    "p": ("sie", "sie", "ihnen"),
}
CONTRACTIONS = {
    ("in", "dem"): "im",
    ("in", "das"): "ins",
    ("an", "dem"): "am",
    ("an", "das"): "ans",
    ("bei", "dem"): "beim",
    ("von", "dem"): "vom",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
}
INSEPARABLE = tuple(["be", "ge", "er", "ver", "zer", "ent", "emp", "miss"])
MODALS = {  # English -> present of ich and er, present plural, past singular, past plural
    "can": ("kann", "können", "konnte", "konnten"),
    "have to": ("muss", "müssen", "musste", "mussten"),
    "be allowed to": ("darf", "dürfen", "durfte", "durften"),
    "want to": ("will", "wollen", "wollte", "wollten"),
    "should": ("sollte", "sollten", "", ""),
    "would like to": ("möchte", "möchten", "", ""),
}
IRREGULAR_PRESENT = {
    "sein": ("bin", "ist", "sind"),
    "haben": ("habe", "hat", "haben"),
    "werden": ("werde", "wird", "werden"),
}
PERFECT_AUXILIARY = {
    "haben": (IRREGULAR_PRESENT["haben"], ("hatte", "hatte", "hatten")),
    "sein": (IRREGULAR_PRESENT["sein"], ("war", "war", "waren")),
}


def noun_cases(singular: str, gender: str, genitive: str, plural: str) -> dict[str, tuple]:
    """The four cases of a noun by number: {"singular": (nom, acc, dat, gen), "plural": (...)}.

    A masculine noun whose genitive ends in -n is of the weak declension (der Junge, den Jungen).
    The dative plural takes -n unless the plural ends in -n or -s.  A number that is "-" is left out.
    """
    cases = {}
    if singular != "-":
        weak = gender == "m" and genitive.endswith("n")
        oblique = genitive if weak else singular
        cases["singular"] = (singular, oblique, oblique, genitive)
    if plural != "-":
        dative = plural if plural.endswith(("n", "s")) else plural + "n"
        cases["plural"] = (plural, plural, dative, plural)
    return cases


@dataclass(frozen=True, slots=True)
class GermanVerb:
    """All forms that the grammar needs; `present` and `past` by person: ich, er, wir."""

    infinitive: str  # with its prefix: aufstehen
    prefix: str  # separable prefix or ""
    present: tuple[str, str, str]  # without the prefix
    past: tuple[str, str, str]
    participle: str  # with prefix: aufgestanden
    infinitive_zu: str  # aufzustehen, zu lesen
    auxiliary: str  # haben or sein
    reflexive: bool


def german_verb(parts: str, auxiliary: str) -> GermanVerb:
    """A verb from its principal parts "[sich ][prefix|]infinitive [er-form past participle]".

    A lone infinitive is a weak verb; the parts of a strong one are given without the prefix.
    """
    reflexive = parts.startswith("sich ")
    words = parts.removeprefix("sich ").split(" ")
    prefix, _, base = words[0].rpartition("|")
    stem = base[:-1] if base.endswith(("eln", "ern")) else base[:-2]
    link = "e" if needs_link(stem) else ""
    if len(words) == 4:
        third, past, participle = words[1:]
    else:
        third, past = f"{stem}{link}t", f"{stem}{link}te"
        unstressed = base.startswith(INSEPARABLE) or base.endswith("ieren")
        participle = f"{'' if unstressed else 'ge'}{stem}{link}t"
    if base in IRREGULAR_PRESENT:
        present = IRREGULAR_PRESENT[base]
    elif not third.endswith("t"):  # mag, weiß: preterite-presents
        present = (third, third, base)
    elif base.endswith("eln"):
        present = (f"{stem[:-2]}le", third, base)
    else:
        present = (f"{stem}e", third, base)
    past_plural = past + ("n" if past.endswith("e") else "en")
    return GermanVerb(
        infinitive=prefix + base,
        prefix=prefix,
        present=present,
        past=(past, past, past_plural),
        participle=prefix + participle,
        infinitive_zu=f"{prefix}zu{base}" if prefix else f"zu {base}",
        auxiliary=auxiliary,
        reflexive=reflexive,
    )


def needs_link(stem: str) -> bool:
    """Whether a weak stem takes -e- before -t and -te: arbeitet, öffnet, zeichnet; but wohnt, lernt."""
    if stem.endswith(("d", "t", "chn")):
        return True
    return stem[-1] in "mn" and stem[-2] not in "aeiouäöülrhmn"


def with_preposition(preposition: str, phrase: str, contract: bool) -> str:
    """Preposition and noun phrase, contracted (im, zur) where `contract` and the article allows it."""
    if contract and phrase.startswith("d"):
        article, _, rest = phrase.partition(" ")
        joined = CONTRACTIONS.get((preposition, article))
        if joined:
            return f"{joined} {rest}"
    return f"{preposition} {phrase}"
