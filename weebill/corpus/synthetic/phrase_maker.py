"""Random noun phrases: a noun, its determiner and adjectives, and what follows it."""

from weebill.corpus.synthetic.determiners import (
    BARE,
    DETERMINER_BY_NAME,
    MASS,
    NOT_A,
    NOT_ANY,
    NUMBER,
    OF_NAME,
    PLURAL,
    POSSESSIVE,
    POSSESSIVES,
    POSSESSOR,
    SINGULAR,
    THE,
    THESE,
    THIS,
    A,
    Determiner,
    word,
)
from weebill.corpus.synthetic.dice import Dice
from weebill.corpus.synthetic.english import indefinite_article, possessive
from weebill.corpus.synthetic.german import DATIVE, GENITIVE
from weebill.corpus.synthetic.lexicon import Lexicon, Noun
from weebill.corpus.synthetic.numbers import english_number, german_number
from weebill.corpus.synthetic.phrases import Phrase, attach, coordinated, fixed, personal

PERSONS = ("I", "you", "he", "she", "we", "they")
OTHERS = {  # objects that are not the subject again
    "I": ("you", "he", "she", "they"),
    "we": ("you", "he", "she", "they"),
    "you": ("I", "he", "she", "we", "they"),
    "he": ("I", "you", "she", "we", "they"),
    "she": ("I", "you", "he", "we", "they"),
    "they": ("I", "you", "he", "she", "we"),
}
INDEFINITE = (
    ("somebody", ("jemand", "jemanden", "jemandem")),
    ("nobody", ("niemand", "niemanden", "niemandem")),
)
SIZES = (("big", "groß"), ("small", "klein"))


class PhraseMaker:
    """Random noun phrases."""

    def __init__(self, lexicon: Lexicon, dice: Dice) -> None:
        self.lexicon = lexicon
        self.dice = dice

    def noun_phrase(self, kinds: str, determiner: str = "", attributes: bool = True) -> Phrase:
        """A phrase of the given kinds.

        determiner: "" for any; "the", "a", "no", "which"; "not a" for the kein of a negated clause.
        attributes: whether it may carry a genitive or a prepositional phrase.
        """
        dice = self.dice
        noun = dice.pick(self.lexicon.of_kinds(kinds))
        if attributes and not determiner and dice.random() < 0.12:
            return self._with_attribute(noun)
        plural = noun.singular is None or (noun.plural is not None and dice.random() < 0.27)
        return self._assemble(noun, plural, self._determiner(noun, plural, determiner))

    def person(self, kinds: str = "person") -> Phrase:
        """A subject: pronoun, name, noun phrase or two of them."""
        chance = self.dice.random()
        if chance < 0.34:
            return personal(self.dice.pick(PERSONS))
        if chance < 0.46:
            return self.name()
        if chance < 0.49:
            english, german = self.dice.pick(INDEFINITE)
            return fixed(english, german)
        if chance < 0.54:
            return coordinated(
                self.noun_phrase(kinds, attributes=False), self.noun_phrase(kinds, attributes=False)
            )
        return self.noun_phrase(kinds)

    def name(self) -> Phrase:
        """A first name."""
        name = self.dice.pick(self.lexicon.people)
        return fixed(name, (name,) * 3)

    def object_pronoun(self, subject: Phrase) -> Phrase:
        """A personal pronoun other than the subject."""
        return personal(self.dice.pick(OTHERS.get(subject.english, PERSONS)))

    def adjective(self, noun: Noun) -> tuple[str, str]:
        """English words and German attributive stem (perhaps with "sehr" or a comparative)."""
        adjective = self.dice.pick(self.lexicon.describing(noun))
        chance = self.dice.random()
        if chance < 0.08:
            return f"very {adjective.positive.english}", f"sehr {adjective.positive.stem}"
        if chance < 0.13 and adjective.comparative:
            return adjective.comparative.english, adjective.comparative.stem
        return adjective.positive.english, adjective.positive.stem

    def superlative(self, noun: Noun) -> tuple[str, str] | None:
        """English superlative and German stem, or None where the adjective drawn has none."""
        adjective = self.dice.pick(self.lexicon.describing(noun))
        degree = adjective.superlative
        return (degree.english, degree.stem) if degree else None

    def number(self) -> tuple[str, str]:
        """A number of things: small ones in words, larger in digits or in words."""
        dice = self.dice
        number = dice.between(2, 12) if dice.chance(0.6) else dice.between(13, 99)
        if number > 12 and dice.chance(0.6):
            return str(number), str(number)
        return english_number(number), german_number(number)

    def _determiner(self, noun: Noun, plural: bool, name: str) -> Determiner:
        if name == "not a":
            return NOT_ANY if plural or not noun.countable else NOT_A
        if name == "a" and (plural or not noun.countable):
            return BARE
        if name:
            return DETERMINER_BY_NAME[name]
        choices = PLURAL if plural else SINGULAR if noun.countable else MASS
        choice = self.dice.pick(choices)
        if choice is POSSESSIVE:
            return self.dice.pick(POSSESSIVES)
        if not noun.countable and plural and (choice is NUMBER or choice is BARE):
            return THE
        if choice is NUMBER:
            english, german = self.number()
            return Determiner(english, word(german), "strong")
        if choice is OF_NAME:
            name = self.dice.pick(self.lexicon.people)
            return Determiner(f"{name}'s", word(f"{name}s"), "strong")
        return choice

    def _assemble(
        self, noun: Noun, plural: bool, determiner: Determiner, possessor: str = ""
    ) -> Phrase:
        """Put the words together; `possessor` replaces the English determiner ("the boy's")."""
        dice = self.dice
        gender = "p" if plural else noun.gender
        forms = noun.plural if plural else noun.singular
        article = determiner.german[gender] if determiner.german else None
        words = noun.english_plural if plural else noun.english
        stems = []
        if self.lexicon.describing(noun):
            chance = dice.random()
            if chance < 0.4:
                english, stem = self.adjective(noun)
                words = f"{english} {words}"
                stems = [stem]
                if chance < 0.06 and " " not in english and english not in ("big", "small", "old"):
                    size, german = dice.pick(SIZES)
                    if self._describes(size, noun):
                        words = f"{size} {words}"
                        stems = [german, stem]
            elif chance < 0.43 and determiner is THE:
                superlative = self.superlative(noun)
                if superlative:
                    words = f"{superlative[0]} {words}"
                    stems = [superlative[1]]
        label = possessor or determiner.english
        if determiner is A or determiner is NOT_A:
            label = indefinite_article(words)
        phrase = Phrase(f"{label} {words}" if label else words, gender, forms, article)
        phrase.source = noun
        phrase.endings = determiner.endings[gender]
        phrase.adjectives = stems
        phrase.contracts = determiner is THE and not plural
        return phrase

    def _describes(self, english: str, noun: Noun) -> bool:
        return any(a.positive.english == english for a in self.lexicon.describing(noun))

    def _with_attribute(self, noun: Noun) -> Phrase:
        """A phrase with a genitive or a prepositional phrase behind it."""
        dice = self.dice
        plural = noun.singular is None or (noun.plural is not None and dice.random() < 0.2)
        if "fixture" in noun.kinds:
            whole = self._possessor(dice.pick(self.lexicon.of_kinds("building,room")))
            phrase = self._assemble(noun, plural, THE)
            phrase.tail = f" {whole.german(GENITIVE)}"
            phrase.english = phrase.english_object = f"{phrase.english} of {whole.english}"
            return phrase
        chance = dice.random()
        if chance < 0.5:
            owner = self._possessor(dice.pick(self.lexicon.of_kinds("person")))
            english = possessive(owner.english, owner.gender == "p")
            phrase = self._assemble(noun, plural, THE, possessor=english)
            phrase.tail = f" {owner.german(GENITIVE)}"
            return phrase
        phrase = self._assemble(noun, plural, THE if chance < 0.8 else A if not plural else BARE)
        if "person" in noun.kinds:
            worn = self.noun_phrase("clothing,umbrella,bag,dog", "a", attributes=False)
            return attach(phrase, f"with {worn.english}", f"mit {worn.german(DATIVE)}")
        if noun.kinds & {"thing", "text", "clothing", "food"}:
            where = self.noun_phrase("surface", "the", attributes=False)
            return attach(phrase, f"on {where.english}", where.german_after("auf", DATIVE))
        return phrase

    def _possessor(self, noun: Noun) -> Phrase:
        """A phrase with an article, as the genitive needs one."""
        plural = noun.singular is None or (noun.plural is not None and self.dice.random() < 0.25)
        determiner = self.dice.pick(POSSESSOR)
        if determiner is POSSESSIVE:
            determiner = self.dice.pick(POSSESSIVES)
        elif determiner is THIS and plural:
            determiner = THESE
        elif determiner is A and (plural or not noun.countable):
            determiner = THE
        return self._assemble(noun, plural, determiner)
