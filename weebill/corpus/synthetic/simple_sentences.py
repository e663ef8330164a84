"""Sentences of one clause: statements, questions, commands, passives, prices."""

from weebill.corpus.synthetic.clause_maker import ClauseMaker
from weebill.corpus.synthetic.clauses import Clause, Pair, finish, spaced
from weebill.corpus.synthetic.german import ACCUSATIVE, DATIVE
from weebill.corpus.synthetic.phrases import fixed, personal

# A pair of empty sentences says that the draw made no sense and another is to be made.


class SimpleSentences:
    """Random sentence pairs of one clause."""

    def __init__(self, clauses: ClauseMaker) -> None:
        self.clauses = clauses
        self.lexicon = clauses.lexicon
        self.dice = clauses.dice
        self.phrases = clauses.phrases
        # How often each kind of sentence stands, as repetitions.
        self.kinds = (
            (self.statement,) * 34
            + (self.question,) * 6
            + (self.open_question,) * 7
            + (self.command,) * 5
            + (self.passive,) * 4
            + (self.existence,) * 3
            + (self.price,) * 2
            + (self.age,)
        )

    def statement(self) -> Pair:
        """Subject first, or an adverbial first and the German verb second."""
        past = self.dice.chance(0.45)
        clause = self.clauses.clause(past)
        english, german = self.main(clause)
        return finish(english, "."), finish(german, ".")

    def main(self, clause: Clause) -> Pair:
        """A main clause; its time stands first half of the time, and so may an opening adverb."""
        dice = self.dice
        time = clause.time
        if time[0] and dice.chance(0.5):
            comma = "," if " " in time[0] else ""
            return (
                f"{time[0]}{comma} {clause.english(time=False)}",
                clause.german_inverted(time[1], with_time=False),
            )
        openings = self.lexicon.adverbials.get(("opening", clause.tense))
        if openings and not clause.frequency[0] and not clause.modal and dice.chance(0.08):
            opening = dice.pick(openings)
            comma = "" if opening.english == "perhaps" else ","
            return (
                f"{opening.english}{comma} {clause.english()}",
                clause.german_inverted(opening.german),
            )
        return clause.english(), clause.german()

    def question(self) -> Pair:
        """Yes or no: the German verb first."""
        clause = self.clauses.clause(self.dice.chance(0.4), negate=0.0, relatives=0.03)
        return finish(clause.english_question(), "?"), finish(clause.german_inverted(), "?")

    def open_question(self) -> Pair:
        """who, what, whom, which, where, when, why."""
        dice = self.dice
        past = dice.chance(0.5)
        chance = dice.random()
        if chance < 0.25:
            who = fixed("who", ("wer", "wen", "wem"))
            clause = self.clauses.clause(past, who, negate=0.0, relatives=0.03)
            return finish(clause.english(), "?"), finish(clause.german(), "?")
        if chance < 0.55:
            return self._object_question(past)
        if chance < 0.7:
            clause = self._plain_clause(past, dice.pick(("place", "position")))
            clause.english_objects = clause.german_late = ""
            opening = ("where", "wo")
        else:
            clause = self._plain_clause(past, "")
            opening = dice.pick((("why", "warum"), ("when", "wann"), ("how often", "wie oft")))
            if opening[0] != "why" and clause.tense in ("progressive", "perfect"):
                clause.tense = "present"
        clause.time = clause.frequency = ("", "")
        english, german = clause.english_question(opening[0]), clause.german_inverted(opening[1])
        return finish(english, "?"), finish(german, "?")

    def _plain_clause(self, past: bool, frame: str) -> Clause:
        """A clause without negation, time or relative clauses."""
        return self.clauses.clause(past, frame=frame, negate=0.0, time=0.0, relatives=0.0)

    def _object_question(self, past: bool) -> Pair:
        """ "whom does the man help", "what did you buy", "which book does he read"."""
        dice = self.dice
        frame = "dat" if dice.chance(0.25) else "acc"
        verb = dice.pick(self.clauses.person_verbs[frame])
        subject = self.phrases.person()
        clause = Clause(subject, verb, *self.clauses.tense(verb, past, subject))
        case = DATIVE if frame == "dat" else ACCUSATIVE
        person = verb.object.startswith(("person", "living"))
        if dice.chance(0.5) or verb.english.base == "paint":  # a room streichen, a picture malen
            phrase = self.phrases.noun_phrase(verb.object, "which", attributes=False)
            english, german = phrase.english, phrase.german(case)
        elif person:
            english, german = "whom", ("wen", "wem")[frame == "dat"]
        else:
            english, german = "what", "was"
        return (
            finish(clause.english_question(english), "?"),
            finish(clause.german_inverted(german), "?"),
        )

    def command(self) -> Pair:
        """ "Please open the window." """
        dice = self.dice
        clause = self.clauses.clause(
            False,
            personal("you"),
            dice.pick(("acc", "acc", "acc", "give", "put", "dat", "go")),
            negate=0.2,
            time=0.0,
            relatives=0.05,
        )
        if clause.verb.simple or clause.nicht == "noch nicht":
            return "", ""
        clause.tense, clause.modal = "present", ""
        clause.frequency = clause.time = ("", "")
        if clause.negated:
            return (
                finish(f"do not {clause.english_infinitive()}", "."),
                finish(clause.german_inverted(), "."),
            )
        clause.time = ("", "bitte")
        return (
            finish(f"please {clause.english_infinitive()}", "."),
            finish(clause.german_inverted(), "."),
        )

    def passive(self) -> Pair:
        """ "The house was built by the worker." """
        dice = self.dice
        verb = dice.pick(self.clauses.person_verbs["acc"])
        if verb.simple:
            return "", ""
        clause = Clause(self.phrases.noun_phrase(verb.object), verb, "passive")
        agent = self.phrases.noun_phrase("person", "", attributes=False)
        clause.english_objects = spaced(verb.english.particle, "by", agent.english)
        clause.german_late = agent.german_after("von", DATIVE)
        if dice.chance(0.4):
            clause.time = self.clauses.adverbials.time("past")
        english, german = self.main(clause)
        return finish(english, "."), finish(german, ".")

    def existence(self) -> Pair:
        """ "There are three books on the table.": es gibt with the accusative."""
        dice = self.dice
        if dice.chance(0.5):
            phrase = self.phrases.noun_phrase("person,animal,plant", "a", attributes=False)
            english, german = self.clauses.adverbials.whereabouts()
        else:
            phrase = self.phrases.noun_phrase("crockery,text,food,clothing", "a", attributes=False)
            english, german = self.clauses.adverbials.spot(DATIVE)
        plural = phrase.person_english == 2
        past = dice.chance(0.3)
        be = (("is", "are"), ("was", "were"))[past][plural]
        gibt = "gab" if past else "gibt"
        return (
            finish(f"there {be} {phrase.english} {english}", "."),
            finish(f"es {gibt} {phrase.german(ACCUSATIVE)} {german}", "."),
        )

    def price(self) -> Pair:
        """ "The coat costs 45 euros." """
        clause = self.clauses.clause(
            self.dice.chance(0.3), frame="cost", negate=0.0, time=0.0, relatives=0.2
        )
        clause.frequency = ("", "")
        if clause.tense == "future":
            clause.tense = "present"
        return finish(clause.english(), "."), finish(clause.german(), ".")

    def age(self) -> Pair:
        """ "My sister is 34 years old." """
        subject = self.phrases.person()
        clause = Clause(subject, self.clauses.verbs["be"][0], "present")
        english, german = self.phrases.number()
        clause.english_objects = f"{english} years old"
        clause.german_late = f"{german} Jahre alt"
        if subject.english in ("somebody", "nobody"):
            return "", ""
        return finish(clause.english(), "."), finish(clause.german(), ".")
