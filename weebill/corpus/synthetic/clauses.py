"""A clause and its orders: English statements and questions, German verb-second, verb-first and verb-final."""

from weebill.corpus.synthetic.english import verb_group
from weebill.corpus.synthetic.german import IRREGULAR_PRESENT, MODALS, PERFECT_AUXILIARY
from weebill.corpus.synthetic.lexicon import Verb
from weebill.corpus.synthetic.phrases import Phrase

WILL = IRREGULAR_PRESENT["werden"]
PASSIVE = ("wurde", "wurde", "wurden")
Pair = tuple[str, str]  # English, German
NONE: Pair = ("", "")


class Clause:
    """One verb with its subject and all that depends on it.

    german_objects stand before "nicht", german_late (places, prepositional objects, predicates) behind it.
    """

    __slots__ = (
        "english_objects",
        "frequency",
        "german_late",
        "german_objects",
        "german_pronouns",
        "modal",
        "negated",
        "nicht",
        "subject",
        "tense",
        "time",
        "verb",
    )

    def __init__(self, subject: Phrase, verb: Verb, tense: str, modal: str = "") -> None:
        self.subject = subject
        self.verb = verb
        self.tense = tense  # see english.verb_group; with a modal: present or past
        self.modal = modal
        self.negated = False  # English "not"
        self.nicht = ""  # German "nicht", "noch nicht", or "" where kein negates
        self.time: Pair = NONE
        self.frequency: Pair = NONE
        self.english_objects = verb.english.particle
        self.german_pronouns = ""
        self.german_objects = ""
        self.german_late = ""

    # English

    def english(self, time: bool = True) -> str:
        """Subject, verb, objects, and the time at the end where `time`."""
        verb = self.verb.english
        auxiliary, main = verb_group(
            verb, self.subject.person_english, self.tense, self.modal, self.negated
        )
        if self.negated:
            auxiliary = "cannot" if auxiliary == "can" else f"{auxiliary} not"
        last = self.time[0] if time else ""
        return spaced(
            self.subject.english, auxiliary, self.frequency[0], main, self.english_objects, last
        )

    def english_question(self, opening: str = "") -> str:
        """ "does the man read a book", "where does the man sleep"."""
        auxiliary, main = verb_group(
            self.verb.english, self.subject.person_english, self.tense, self.modal, True
        )
        return spaced(
            opening,
            auxiliary,
            self.subject.english,
            self.frequency[0],
            main,
            self.english_objects,
            self.time[0],
        )

    def english_infinitive(self) -> str:
        """ "read a book in the garden"."""
        return spaced(self.verb.english.base, self.english_objects, self.time[0])

    # German

    def _verb_forms(self) -> tuple[str, str]:
        """The finite verb, and what stands at the end of the clause (prefix, participle, infinitive)."""
        verb, person = self.verb.german, self.subject.person_german
        tense = self.tense
        if self.modal:
            forms = MODALS[self.modal]
            past = tense == "past" and forms[2] != ""
            return forms[2 * past + (person == 2)], verb.infinitive
        if tense == "present" or tense == "progressive":
            return verb.present[person], verb.prefix
        if tense == "past":
            return verb.past[person], verb.prefix
        if tense == "future":
            return WILL[person], verb.infinitive
        if tense == "passive":
            return PASSIVE[person], verb.participle
        return PERFECT_AUXILIARY[verb.auxiliary][tense == "pluperfect"][person], verb.participle

    def _middle(self, with_time: bool) -> str:
        """From the pronouns to the predicate, without the subject and the reflexive pronoun."""
        time = self.time[1] if with_time else ""
        if self.tense == "progressive" and not self.modal:
            time = spaced(time, "gerade")
        return spaced(
            self.german_pronouns,
            time,
            self.frequency[1],
            self.german_objects,
            self.nicht,
            self.german_late,
        )

    def _reflexive(self) -> str:
        """The reflexive pronoun of the subject, or ""."""
        if not self.verb.german.reflexive or self.tense == "passive":
            return ""
        if self.subject.pronoun:
            return {"I": "mich", "we": "uns"}.get(self.subject.english, "sich")
        return "sich"

    def _subject_inside(self, leads: bool = False) -> str:
        """Subject and reflexive behind the verb or the conjunction: the lighter one first.

        leads: the subject opens the clause (der, dessen Bruder), so that nothing can precede it.
        """
        subject, reflexive = self.subject.german(0), self._reflexive()
        if leads or self.subject.pronoun:
            return spaced(subject, reflexive)
        return spaced(reflexive, subject)

    def german(self) -> str:
        """Verb second, the subject first."""
        finite, end = self._verb_forms()
        return spaced(self.subject.german(0), finite, self._reflexive(), self._middle(True), end)

    def german_inverted(self, front: str = "", with_time: bool = True) -> str:
        """Verb second behind `front`, or verb first without: "gestern las der Mann", "liest der Mann"."""
        finite, end = self._verb_forms()
        return spaced(front, finite, self._subject_inside(), self._middle(with_time), end)

    def german_last(self, opening: str) -> str:
        """Verb-final behind a conjunction or relative pronoun: "weil der Mann das Buch gelesen hat".

        opening: "" where the subject is the relative pronoun or holds it.
        """
        finite, end = self._verb_forms()
        simple = not self.modal and self.tense in ("present", "progressive", "past")
        verbs = end + finite if simple else f"{end} {finite}"
        return spaced(opening, self._subject_inside(leads=not opening), self._middle(True), verbs)

    def german_infinitive(self) -> str:
        """With zu: "das Buch im Garten zu lesen"; a reflexive verb agrees with the subject."""
        return spaced(self._reflexive(), self._middle(True), self.verb.german.infinitive_zu)


def spaced(*parts: str) -> str:
    """The parts that are not empty, one space between."""
    return " ".join([part for part in parts if part])


def finish(text: str, mark: str) -> str:
    """A clause as a sentence: capital letter, closing mark, commas at the seams cleaned."""
    text = f"{text}{mark}"
    if ",," in text:
        text = text.replace(",,", ",")
    if f",{mark}" in text:
        text = text.replace(f",{mark}", mark)
    return text[0].upper() + text[1:]
