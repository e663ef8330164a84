"""Sentences of two clauses: subordinate, that- and infinitive clauses, coordination, pronouns that refer back."""

from weebill.corpus.synthetic.clause_maker import ClauseMaker
from weebill.corpus.synthetic.clauses import Clause, Pair, finish, spaced
from weebill.corpus.synthetic.dice import Dice
from weebill.corpus.synthetic.german import ACCUSATIVE
from weebill.corpus.synthetic.phrases import Phrase, fixed, pronoun_for
from weebill.corpus.synthetic.simple_sentences import SimpleSentences

SUBORDINATORS = (  # English, German, past (None: either), may stand first
    ("because", "weil", None, True),
    ("because", "weil", None, False),
    ("although", "obwohl", None, True),
    ("although", "obwohl", None, False),
    ("when", "wenn", False, True),
    ("when", "als", True, True),
    ("if", "wenn", False, True),
    ("while", "während", None, True),
    ("before", "bevor", None, False),
    ("as soon as", "sobald", None, True),
    ("until", "bis", None, False),
    ("so that", "damit", False, False),
)
TEMPORAL = ("when", "if", "before", "as soon as", "until", "so that")
COORDINATORS = ((" and ", " und "), (", but ", ", aber "), (" or ", " oder "))
WEATHER_SUBORDINATORS = (("because", "weil"), ("although", "obwohl"), ("if", "wenn"))


class ComplexSentences:
    """Random sentence pairs of two clauses; `single` puts adverbials before a main clause."""

    def __init__(self, clauses: ClauseMaker, single: SimpleSentences) -> None:
        self.clauses = clauses
        self.single = single
        self.lexicon = clauses.lexicon
        self.dice = clauses.dice
        self.phrases = clauses.phrases
        # How often each kind of sentence stands, as repetitions.
        self.kinds = (
            (self.subordinate,) * 14
            + (self.content_clause,) * 8
            + (self.infinitive,) * 6
            + (self.purpose,) * 4
            + (self.coordination,) * 7
            + (self.reference,) * 5
            + (self.after,) * 3
            + (self.weather,)
        )

    def subordinate(self) -> Pair:
        """A main clause with a subordinate one behind or before it."""
        dice = self.dice
        english, german, wanted, first = dice.pick(SUBORDINATORS)
        past = dice.chance(0.5) if wanted is None else wanted
        main = self.clauses.clause(past, time=0.1, relatives=0.04)
        side = self.clauses.clause(past, time=0.12, relatives=0.0)
        if english in TEMPORAL:
            plain_tense(side)
            plain_tense(main, future=True)
        return join(main, side.english(), side.german_last(german), english, first, dice)

    def after(self) -> Pair:
        """ "After the man had eaten, he went home.": pluperfect before past."""
        dice = self.dice
        side = self.clauses.clause(True, negate=0.0, time=0.0, relatives=0.0)
        if side.modal or side.verb.frame in ("be", "seem", "position", "place"):
            return "", ""
        side.tense, side.time, side.frequency = "pluperfect", ("", ""), ("", "")
        main = self.clauses.clause(True, time=0.0, relatives=0.0)
        main.time = ("", "")
        return join(main, side.english(), side.german_last("nachdem"), "after", True, dice)

    def weather(self) -> Pair:
        """ "Because it is raining, ..." """
        dice = self.dice
        english, german = dice.pick(WEATHER_SUBORDINATORS)
        past = english != "if" and dice.chance(0.4)
        verb = dice.pick(self.clauses.verbs["weather"])
        side = Clause(fixed("it", ("es",) * 3, "n"), verb, "past" if past else "progressive")
        side.subject.pronoun = True
        main = self.clauses.clause(past, time=0.0, relatives=0.0)
        main.time = ("", "")
        if english == "if":
            plain_tense(main, future=True)
        return join(main, side.english(), side.german_last(german), english, True, dice)

    def content_clause(self) -> Pair:
        """ "The man says that ...", "She asks whether ..."."""
        dice = self.dice
        frame, english, german = dice.pick(
            (("that", "that", "dass"),) * 3 + (("whether",) * 2 + ("ob",),)
        )
        past = dice.chance(0.4)
        verb = dice.pick(self.clauses.verbs[frame])
        subject = self.phrases.person()
        main = Clause(subject, verb, *self.clauses.tense(verb, past, subject))
        if main.tense not in ("present", "past"):
            main.tense = "past" if past else "present"
        side = self.clauses.clause(past, time=0.2, relatives=0.03)
        return (
            finish(f"{main.english()} {english} {side.english()}", "."),
            finish(f"{main.german()}, {side.german_last(german)}", "."),
        )

    def infinitive(self) -> Pair:
        """ "He tries to read the book.": ..., das Buch zu lesen."""
        dice = self.dice
        past = dice.chance(0.4)
        verb = dice.pick(self.clauses.verbs["to"])
        subject = self.phrases.person()
        main = Clause(subject, verb, "past" if past else "present")
        side = self._infinitive_clause(subject)
        return (
            finish(f"{main.english()} to {side.english_infinitive()}", "."),
            finish(f"{main.german()}, {side.german_infinitive()}", "."),
        )

    def purpose(self) -> Pair:
        """ "in order to": um ... zu."""
        main = self.clauses.clause(self.dice.chance(0.5), negate=0.0, time=0.1, relatives=0.0)
        if main.verb.frame in ("be", "seem", "become") or "person" not in main.verb.subject:
            return "", ""
        side = self._infinitive_clause(main.subject)
        english, german = self.single.main(main)
        return (
            finish(f"{english} in order to {side.english_infinitive()}", "."),
            finish(f"{german}, um {side.german_infinitive()}", "."),
        )

    def _infinitive_clause(self, subject: Phrase) -> Clause:
        """What the subject does, without tense, negation or frequency."""
        frame = self.dice.pick(("acc",) * 5 + ("none", "give", "dat", "prep", "go", "put"))
        side = self.clauses.clause(False, subject, frame, negate=0.0, time=0.0, relatives=0.05)
        side.tense, side.modal = "present", ""
        side.time = side.frequency = ("", "")
        return side

    def coordination(self) -> Pair:
        """Two main clauses."""
        dice = self.dice
        past = dice.chance(0.5)
        english, german = dice.pick(COORDINATORS)
        first = self.clauses.clause(past, time=0.15, relatives=0.03)
        second = self.clauses.clause(past, time=0.1, relatives=0.03)
        first_english, first_german = self.single.main(first)
        return (
            finish(f"{first_english}{english}{second.english()}", "."),
            finish(f"{first_german}{german}{second.german()}", "."),
        )

    def reference(self) -> Pair:
        """ "She buys the coat because it is warm.": the pronoun has the noun's grammatical gender."""
        dice = self.dice
        past = dice.chance(0.5)
        verb = dice.pick(self.clauses.verbs["acc"])
        if "person" in verb.object or "living" in verb.object or "person" not in verb.subject:
            return "", ""
        thing = self.phrases.noun_phrase(verb.object, attributes=False)
        adjectives = self.lexicon.describing(thing.source)
        if "animal" in thing.source.kinds or not adjectives:
            return "", ""
        subject = self.phrases.person()
        main = Clause(subject, verb, *self.clauses.tense(verb, past, subject))
        main.english_objects = spaced(verb.english.particle, thing.english)
        main.german_objects = thing.german(ACCUSATIVE)
        be = self.clauses.verbs["be"][0]
        side = Clause(pronoun_for(thing), be, "past" if past else "present")
        side.subject.source = thing.source
        self.clauses.frames.fill(side, 0.0)
        english, german = dice.pick((("because", "weil"), ("although", "obwohl"), ("but", "aber")))
        if english == "but":
            return (
                finish(f"{main.english()}, but {side.english()}", "."),
                finish(f"{main.german()}, aber {side.german()}", "."),
            )
        return join(main, side.english(), side.german_last(german), english, False, dice)


def plain_tense(clause: Clause, future: bool = False) -> None:
    """Present instead of perfect, progressive and (unless `future`) future, beside these conjunctions."""
    if clause.modal or clause.tense in ("present", "past") or (future and clause.tense == "future"):
        return
    clause.tense = "present"
    if clause.time[0] or clause.frequency[0]:
        clause.time = clause.frequency = ("", "")
    if clause.nicht == "noch nicht":
        clause.nicht = "nicht"
        clause.english_objects = clause.english_objects.removesuffix("yet").rstrip()


def join(
    main: Clause, english: str, german_last: str, conjunction: str, may_lead: bool, dice: Dice
) -> Pair:
    """Main and subordinate clause; where the latter leads, the German main clause begins with its verb."""
    if may_lead and dice.chance(0.45):
        return (
            finish(f"{conjunction} {english}, {main.english()}", "."),
            finish(f"{german_last}, {main.german_inverted()}", "."),
        )
    return (
        finish(f"{main.english()} {conjunction} {english}", "."),
        finish(f"{main.german()}, {german_last}", "."),
    )
