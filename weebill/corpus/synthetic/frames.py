"""What a verb's frame asks for: objects, complements and places, filled into a clause."""

from collections.abc import Callable

from weebill.corpus.synthetic.adverbials import AdverbialMaker
from weebill.corpus.synthetic.clauses import Clause, spaced
from weebill.corpus.synthetic.dice import Dice
from weebill.corpus.synthetic.german import ACCUSATIVE, DATIVE, NOMINATIVE
from weebill.corpus.synthetic.lexicon import Lexicon
from weebill.corpus.synthetic.numbers import english_number, german_number
from weebill.corpus.synthetic.phrase_maker import PhraseMaker
from weebill.corpus.synthetic.phrases import Phrase

SEPARABLE_PARTICLES = frozenset(["up", "on", "off", "away", "along", "down"])


class FrameFiller:
    """Random objects and complements.

    `relative(phrase, past)` puts a relative clause behind a phrase.
    """

    def __init__(
        self,
        lexicon: Lexicon,
        dice: Dice,
        phrases: PhraseMaker,
        adverbials: AdverbialMaker,
        relative: Callable[[Phrase, bool], None],
    ) -> None:
        self.lexicon = lexicon
        self.dice = dice
        self.phrases = phrases
        self.adverbials = adverbials
        self.relative = relative
        self.fillers = {
            name.removeprefix("_fill_"): getattr(self, name)
            for name in dir(self)
            if name.startswith("_fill_")
        }

    def fill(self, clause: Clause, relatives: float) -> None:
        """Objects and complements by the verb's frame."""
        self.fillers[clause.verb.frame](clause, relatives)

    def object_phrase(self, clause: Clause, kinds: str, relatives: float) -> Phrase:
        """An object; in a negated clause definite, or indefinite with kein, which then negates."""
        dice = self.dice
        if clause.negated:
            if clause.nicht == "nicht" and dice.chance(0.5):
                clause.nicht = ""
                return self.phrases.noun_phrase(kinds, "not a", attributes=False)
            return self.phrases.noun_phrase(kinds, "the", attributes=False)
        phrase = self.phrases.noun_phrase(kinds)
        if dice.random() < relatives:
            self.relative(phrase, clause.tense == "past")
        return phrase

    def _person_or_phrase(self, clause: Clause, kinds: str, relatives: float) -> Phrase:
        """An object that may be a pronoun or a name where the kinds are persons."""
        if kinds.startswith(("person", "living")):
            chance = self.dice.random()
            if chance < 0.22:
                return self.phrases.object_pronoun(clause.subject)
            if chance < 0.3:
                return self.phrases.name()
        return self.object_phrase(clause, kinds, relatives)

    def _put_object(self, clause: Clause, phrase: Phrase, case: int) -> None:
        """The object into both languages; a particle goes before a noun and behind a pronoun."""
        particle = clause.verb.english.particle
        if phrase.pronoun:
            clause.german_pronouns = phrase.german(case)
            if particle in SEPARABLE_PARTICLES:
                clause.english_objects = f"{phrase.english_object} {particle}"
                return
        else:
            clause.german_objects = phrase.german(case)
        clause.english_objects = spaced(particle, phrase.english_object)

    def _fill_none(self, clause: Clause, relatives: float) -> None:
        if self.dice.chance(0.35) and "person" in clause.verb.subject:
            self._add_place(clause)

    def _fill_weather(self, clause: Clause, relatives: float) -> None:
        pass

    def _fill_acc(self, clause: Clause, relatives: float) -> None:
        phrase = self._person_or_phrase(clause, clause.verb.object, relatives)
        self._put_object(clause, phrase, ACCUSATIVE)
        chance = self.dice.random()
        if clause.verb.simple or "," in phrase.tail:
            return  # a place behind a relative clause would seem to belong to that
        if chance < 0.1:
            self._add_place(clause)
        elif chance < 0.17 and clause.verb.subject == "person":
            self._add_company(clause)

    def _fill_dat(self, clause: Clause, relatives: float) -> None:
        phrase = self._person_or_phrase(clause, clause.verb.object, relatives)
        self._put_object(clause, phrase, DATIVE)

    def _fill_give(self, clause: Clause, relatives: float) -> None:
        receiver = self._receiver(clause)
        if receiver.english == "she":  # "sells her books": her own, or to her?
            receiver = self.phrases.name()
        thing = self._given(clause, receiver, relatives)
        clause.english_objects = f"{receiver.english_object} {thing.english_object}"

    def _fill_give_to(self, clause: Clause, relatives: float) -> None:
        receiver = self._receiver(clause)
        thing = self._given(clause, receiver, relatives=0.0)
        clause.english_objects = f"{thing.english_object} to {receiver.english_object}"

    def _receiver(self, clause: Clause) -> Phrase:
        chance = self.dice.random()
        if chance < 0.3:
            return self.phrases.object_pronoun(clause.subject)
        if chance < 0.42:
            return self.phrases.name()
        return self.phrases.noun_phrase("person", "the", attributes=False)

    def _given(self, clause: Clause, receiver: Phrase, relatives: float) -> Phrase:
        """The thing given; the German dative goes before the accusative."""
        thing = self.object_phrase(clause, clause.verb.object, relatives)
        dative, accusative = receiver.german(DATIVE), thing.german(ACCUSATIVE)
        if receiver.pronoun:
            clause.german_pronouns, clause.german_objects = dative, accusative
        else:
            clause.german_objects = f"{dative} {accusative}"
        return thing

    def _fill_prep(self, clause: Clause, relatives: float) -> None:
        verb = clause.verb
        kinds = verb.object
        if kinds.startswith("person") and self.dice.chance(0.25):
            phrase = self.phrases.object_pronoun(clause.subject)
        else:
            phrase = self.phrases.noun_phrase(kinds)
            if self.dice.random() < relatives and not clause.negated:
                self.relative(phrase, clause.tense == "past")
        clause.english_objects = spaced(
            verb.english.particle, verb.english_preposition, phrase.english_object
        )
        clause.german_late = phrase.german_after(verb.german_preposition, verb.case)

    def _fill_go(self, clause: Clause, relatives: float) -> None:
        clause.english_objects, clause.german_late = self.adverbials.destination()

    def _fill_acc_go(self, clause: Clause, relatives: float) -> None:
        self._put_object(
            clause, self._person_or_phrase(clause, clause.verb.object, 0.0), ACCUSATIVE
        )
        english, clause.german_late = self.adverbials.destination()
        clause.english_objects += f" {english}"

    def _fill_place(self, clause: Clause, relatives: float) -> None:
        clause.english_objects, clause.german_late = self.adverbials.whereabouts()

    def _fill_position(self, clause: Clause, relatives: float) -> None:
        source = clause.subject.source
        living = source is None or bool(source.kinds & {"person", "animal"})
        clause.english_objects, clause.german_late = self.adverbials.spot(DATIVE, living)

    def _fill_put(self, clause: Clause, relatives: float) -> None:
        self._put_and_spot(clause, ACCUSATIVE)

    def _fill_put_at(self, clause: Clause, relatives: float) -> None:
        self._put_and_spot(clause, DATIVE)

    def _put_and_spot(self, clause: Clause, case: int) -> None:
        phrase = self.phrases.noun_phrase(
            clause.verb.object, "the" if clause.negated else "", attributes=False
        )
        english, clause.german_late = self.adverbials.spot(case)
        clause.english_objects = f"{phrase.english_object} {english}"
        clause.german_objects = phrase.german(ACCUSATIVE)

    def _fill_be(self, clause: Clause, relatives: float) -> None:
        """A predicate: adjective, comparison, or noun phrase."""
        dice = self.dice
        described = clause.subject.source or self.lexicon.of_kinds("person")[0]
        adjective = dice.pick(self.lexicon.describing(described))
        chance = dice.random()
        if chance < 0.25 and adjective.comparative and "person" in described.kinds:
            other = self.phrases.noun_phrase("person", "the", attributes=False)
            english = f"{adjective.comparative.english} than {other.english}"
            german = f"{adjective.comparative.german} als {other.german(NOMINATIVE)}"
        elif chance < 0.35 and "person" in described.kinds:
            other = self.phrases.noun_phrase("person", "the", attributes=False)
            english = f"as {adjective.positive.english} as {other.english}"
            german = f"so {adjective.positive.german} wie {other.german(NOMINATIVE)}"
        elif chance < 0.55 and not clause.negated:
            english = f"very {adjective.positive.english}"
            german = f"sehr {adjective.positive.german}"
        else:
            english, german = adjective.positive.english, adjective.positive.german
        clause.english_objects, clause.german_late = english, german

    def _fill_seem(self, clause: Clause, relatives: float) -> None:
        described = clause.subject.source or self.lexicon.of_kinds("person")[0]
        adjective = self.dice.pick(self.lexicon.describing(described)).positive
        clause.english_objects, clause.german_late = adjective.english, adjective.german

    _fill_become = _fill_seem

    def _fill_cost(self, clause: Clause, relatives: float) -> None:
        number = self.dice.between(2, 999)
        if self.dice.chance(0.5):
            english, german = english_number(number), german_number(number)
        else:
            english = german = str(number)
        clause.english_objects, clause.german_objects = f"{english} euros", f"{german} Euro"

    def _add_place(self, clause: Clause) -> None:
        english, german = self.adverbials.whereabouts()
        clause.english_objects = spaced(clause.english_objects, english)
        clause.german_late = spaced(clause.german_late, german)

    def _add_company(self, clause: Clause) -> None:
        preposition = self.dice.pick((("with", "mit", DATIVE), ("without", "ohne", ACCUSATIVE)))
        other = self.phrases.noun_phrase("person", "the", attributes=False)
        clause.english_objects = f"{clause.english_objects} {preposition[0]} {other.english}"
        german = other.german_after(preposition[1], preposition[2])
        clause.german_late = spaced(clause.german_late, german)
