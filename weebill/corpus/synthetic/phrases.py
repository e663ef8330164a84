"""Noun phrases of both languages: their forms, and the ways to put them together."""

from weebill.corpus.synthetic.english import OBJECT_FORM
from weebill.corpus.synthetic.german import (
    ADJECTIVE_ENDINGS,
    GENITIVE,
    PERSONAL,
    PRONOUN_OF_GENDER,
    RELATIVE,
    with_preposition,
)
from weebill.corpus.synthetic.lexicon import Noun


class Phrase:
    """A noun phrase; `german(case)` gives its form.

    person_english: 0 I, 1 he/she/it, 2 plural and you.  person_german: 0 ich, 1 er, 2 plural and Sie.
    """

    __slots__ = (
        "adjectives",
        "article",
        "contracts",
        "endings",
        "english",
        "english_object",
        "gender",
        "noun",
        "person_english",
        "person_german",
        "pronoun",
        "source",
        "tail",
    )

    def __init__(
        self, english: str, gender: str, noun: tuple, article: tuple | None = None
    ) -> None:
        self.english = self.english_object = english
        self.gender = gender
        self.noun = noun
        self.article = article
        self.endings: tuple = ()
        self.adjectives: list[str] = []
        self.tail = ""
        self.person_english = self.person_german = 2 if gender == "p" else 1
        self.pronoun = False
        self.source: Noun | None = None
        self.contracts = False

    def german(self, case: int) -> str:
        """The phrase in a case, with all that follows its noun."""
        text = self.noun[case] + self.tail
        if self.adjectives:
            ending = self.endings[case]
            for adjective in reversed(self.adjectives):
                text = f"{adjective}{ending} {text}"
        return f"{self.article[case]} {text}" if self.article else text

    def german_after(self, preposition: str, case: int) -> str:
        """The phrase behind a preposition, contracted where German does: im Haus, zur Schule."""
        return with_preposition(preposition, self.german(case), self.contracts)


def fixed(english: str, german: tuple, gender: str = "m") -> Phrase:
    """A phrase without parts: a name, a pronoun.  german: nominative, accusative, dative."""
    return Phrase(english, gender, german)


def coordinated(first: Phrase, second: Phrase) -> Phrase:
    """ "the man and the woman": plural."""
    both = Phrase(
        f"{first.english} and {second.english}",
        "p",
        tuple(f"{first.german(case)} und {second.german(case)}" for case in range(3)),
    )
    both.english_object = f"{first.english_object} and {second.english_object}"
    return both


def personal(english: str) -> Phrase:
    """A personal pronoun by its English subject form."""
    phrase = fixed(english, PERSONAL[english])
    phrase.english_object = OBJECT_FORM[english]
    phrase.pronoun = True
    if english in ("we", "you", "they"):
        phrase.person_english = phrase.person_german = 2
    elif english == "I":
        phrase.person_english = phrase.person_german = 0
    return phrase


def pronoun_for(antecedent: Phrase) -> Phrase:
    """ "it" or "they" for a thing named before: German follows its grammatical gender."""
    plural = antecedent.gender == "p"
    phrase = fixed(
        "they" if plural else "it", PRONOUN_OF_GENDER[antecedent.gender], antecedent.gender
    )
    phrase.english_object = "them" if plural else "it"
    phrase.pronoun = True
    return phrase


def genitive_relative(owned: Phrase, gender: str) -> Phrase:
    """ "the brother" -> "whose brother"; the adjectives take the endings of no article."""
    owned.english = owned.english_object = f"whose {owned.english.removeprefix('the ')}"
    owned.article = (RELATIVE[gender][GENITIVE],) * 4
    owned.endings = ADJECTIVE_ENDINGS["strong"][owned.gender]
    owned.contracts = False
    return owned


def attach(phrase: Phrase, english: str, german: str) -> Phrase:
    """Put an attribute behind a phrase."""
    phrase.english = phrase.english_object = f"{phrase.english} {english}"
    phrase.tail += f" {german}"
    return phrase
