"""Determiners of both languages, and how often each stands."""

from weebill.corpus.synthetic.german import (
    ADJECTIVE_ENDINGS,
    DEFINITE,
    DIESER_ENDINGS,
    EIN_ENDINGS,
)


def articles(stem: str, endings: dict[str, tuple]) -> dict[str, tuple]:
    """The declension of a determiner by gender: "kein" -> {"m": ("kein", "keinen", ...), ...}."""
    return {gender: tuple(stem + e for e in forms) for gender, forms in endings.items()}


class Determiner:
    """A determiner: English word, German forms by gender, and the adjective declension after it."""

    def __init__(self, english: str, german: dict[str, tuple] | None, declension: str) -> None:
        self.english = english
        self.german = german
        self.endings = ADJECTIVE_ENDINGS[declension]


def word(german: str) -> dict[str, tuple]:
    """The declension of a word that never changes."""
    return dict.fromkeys("mfnp", (german,) * 4)


THE = Determiner("the", DEFINITE, "weak")
A = Determiner("a", articles("ein", EIN_ENDINGS), "mixed")
BARE = Determiner("", None, "strong")
NO = Determiner("no", articles("kein", EIN_ENDINGS), "mixed")
NOT_A = Determiner("a", NO.german, "mixed")  # the negation stands at the English verb
NOT_ANY = Determiner("", NO.german, "mixed")
EVERY = Determiner("every", articles("jed", DIESER_ENDINGS), "weak")
THIS = Determiner("this", articles("dies", DIESER_ENDINGS), "weak")
THESE = Determiner("these", THIS.german, "weak")
WHICH = Determiner("which", articles("welch", DIESER_ENDINGS), "weak")
ALL = Determiner("all", articles("all", DIESER_ENDINGS), "weak")
MANY = Determiner("many", articles("viel", DIESER_ENDINGS), "strong")
SOME = Determiner("some", articles("einig", DIESER_ENDINGS), "strong")
SEVERAL = Determiner("several", articles("mehrer", DIESER_ENDINGS), "strong")
POSSESSIVES = tuple(
    Determiner(english, articles(german, EIN_ENDINGS), "mixed")
    for english, german in (
        ("my", "mein"),
        ("your", "Ihr"),
        ("his", "sein"),
        ("her", "ihr"),
        ("our", "unser"),
        ("their", "ihr"),
    )
)
NUMBER, OF_NAME, POSSESSIVE = object(), object(), object()
# How often each stands, as repetitions.
SINGULAR = (THE,) * 9 + (A,) * 7 + (POSSESSIVE,) * 4 + (THIS,) * 2 + (OF_NAME, EVERY)
PLURAL = (
    (THE,) * 6 + (BARE,) * 3 + (POSSESSIVE,) * 2 + (THESE, ALL, MANY, SOME, SEVERAL) + (NUMBER,) * 4
)
MASS = (THE,) * 3 + (BARE,) * 4 + (POSSESSIVE, THIS)
POSSESSOR = (THE,) * 5 + (POSSESSIVE, A, THIS)
DETERMINER_BY_NAME = {"the": THE, "a": A, "which": WHICH, "no": NO}
