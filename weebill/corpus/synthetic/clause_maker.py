"""Random clauses: a verb, its subject and tense, filled frames, adverbials and relative clauses."""

from weebill.corpus.synthetic.adverbials import AdverbialMaker
from weebill.corpus.synthetic.clauses import Clause, Pair, spaced
from weebill.corpus.synthetic.dice import Dice
from weebill.corpus.synthetic.frames import FrameFiller
from weebill.corpus.synthetic.german import ACCUSATIVE, DATIVE, RELATIVE
from weebill.corpus.synthetic.lexicon import Lexicon, Noun, Verb
from weebill.corpus.synthetic.phrase_maker import PhraseMaker
from weebill.corpus.synthetic.phrases import Phrase, genitive_relative

PRESENT_TENSES = ("present",) * 7 + ("progressive",) * 3 + ("perfect",) * 3 + ("future",) * 2
PRESENT_MODALS = ("can", "have to", "want to", "should", "would like to", "be allowed to")
PAST_MODALS = ("can", "have to", "want to", "be allowed to")
# How often each frame stands, as repetitions.
FRAMES = (
    ("acc",) * 22
    + ("none",) * 6
    + ("give",) * 5
    + ("give_to",) * 2
    + ("dat",) * 4
    + ("prep",) * 7
    + ("go",) * 4
    + ("acc_go",)
    + ("place",) * 3
    + ("position",) * 4
    + ("put",) * 3
    + ("put_at",)
    + ("be",) * 5
    + ("become", "seem")
)
PREDICATIVE = ("be", "seem", "become", "cost")
QUANTIFIED = ("nobody", "no ", "every ", "all ")
STATIC = (*PREDICATIVE, "position", "place")
SUBJECTS_OF_BE = ("person",) * 2 + (
    "animal",
    "physical",
    "site",
    "speech",
    "text",
    "food,drink",
    "event",
)


class ClauseMaker:
    """Random clauses over a lexicon."""

    def __init__(self, lexicon: Lexicon, dice: Dice) -> None:
        self.lexicon = lexicon
        self.dice = dice
        self.phrases = PhraseMaker(lexicon, dice)
        self.adverbials = AdverbialMaker(lexicon, dice, self.phrases)
        self.frames = FrameFiller(lexicon, dice, self.phrases, self.adverbials, self.relative)
        self.verbs = lexicon.by_frame
        self.person_verbs = {
            frame: tuple(
                v for v in verbs if not v.subject or "person" in lexicon.members(v.subject)
            )
            for frame, verbs in self.verbs.items()
        }
        self._taking: dict[tuple[str, str], tuple[Verb, ...]] = {}

    def clause(
        self,
        past: bool,
        subject: Phrase | None = None,
        frame: str = "",
        negate: float = 0.12,
        time: float = 0.35,
        relatives: float = 0.08,
    ) -> Clause:
        """A clause in the past or in a present tense.

        subject: given, it must be a person.  negate, time: how probable a negation and a time are.
        relatives: how probable a relative clause behind the subject or the object is.
        """
        dice = self.dice
        frame = frame or dice.pick(FRAMES)
        if subject is None:
            verb = dice.pick(self.verbs[frame])
            kinds = verb.subject or dice.pick(SUBJECTS_OF_BE)
            person = kinds.startswith(("person", "living"))
            if person and dice.random() < 0.03:
                subject = self.phrases.noun_phrase(kinds, "no", attributes=False)
            else:
                maker = self.phrases.person if person else self.phrases.noun_phrase
                subject = maker(kinds)
        else:
            verb = dice.pick(self.person_verbs[frame])
            person = True
        clause = Clause(subject, verb, *self.tense(verb, past, subject, person))
        # "all boys do not ..." would be ambiguous, "nobody does not ..." odd
        quantified = subject.english.startswith(QUANTIFIED)
        if not quantified and dice.random() < negate:
            clause.negated = True
            clause.nicht = "nicht"
            if clause.tense == "perfect":
                clause.nicht = "noch nicht"
        self.frames.fill(clause, relatives)
        if clause.nicht == "noch nicht":
            clause.english_objects = spaced(clause.english_objects, "yet")
        # A long subject between verb and pronoun would be clumsy.
        if subject.source and not clause.german_pronouns and dice.random() < relatives:
            self.relative(subject, past)
        self._add_adverbials(clause, past, time, quantified)
        return clause

    def tense(self, verb: Verb, past: bool, subject: Phrase, person: bool = True) -> Pair:
        """A tense and perhaps a modal verb, which only persons take."""
        dice = self.dice
        # "they read", "I put": present or past? Only a modal or an auxiliary could tell.
        unclear = verb.english.base == verb.english.past and subject.person_english != 1
        if person and not verb.simple and (dice.random() < 0.18 or (past and unclear)):
            return (
                ("past", dice.pick(PAST_MODALS)) if past else ("present", dice.pick(PRESENT_MODALS))
            )
        if past:
            return ("future" if unclear else "past"), ""
        tense = dice.pick(PRESENT_TENSES)
        static = verb.frame in STATIC
        if tense == "progressive" and (static or verb.simple):
            tense = "present"
        if tense == "perfect" and static:
            tense = "present"
        return tense, ""

    def _add_adverbials(self, clause: Clause, past: bool, time: float, quantified: bool) -> None:
        """A time, a frequency or a circumstance, where they go with the tense."""
        dice = self.dice
        tense = clause.tense
        chance = dice.random()
        if tense == "perfect":
            if not clause.negated and chance < 0.4 and not quantified:
                clause.frequency = ("already", "schon")
        elif tense == "progressive" or "," in clause.german_objects or "," in clause.german_late:
            return  # behind a relative clause it would seem to belong to that
        elif chance < time:
            if tense == "present" and not clause.modal and clause.verb.simple:
                return  # not: "a coat belongs to him every day"
            clause.time = self.adverbials.time("future" if clause.modal and not past else tense)
        elif chance < time + 0.12:
            plain = tense != "future" and not clause.modal and not clause.negated
            if plain and not quantified:
                adverb = dice.pick(self.lexicon.adverbials["frequency", tense])
                clause.frequency = (adverb.english, adverb.german)
        elif chance < time + 0.17 and clause.verb.frame not in PREDICATIVE:
            clause.time = self.adverbials.circumstance()

    def relative(self, head: Phrase, past: bool) -> None:
        """Put a relative clause behind a phrase; a phrase that already has an attribute keeps that."""
        if head.tail:
            return
        past = past or self.dice.random() < 0.25
        person = "person" in head.source.kinds
        chance = self.dice.random()
        if person and chance < 0.45:
            english, german = self._subject_relative(head, past)
        elif person and chance < 0.57:
            english, german = self._genitive_relative(head, past)
        elif person and chance < 0.8:
            english, german = self._object_relative(head, past, self.dice.pick(("dat", "prep")))
        elif not person and chance < 0.25:
            english, german = self._thing_relative(head, past)
        else:
            english, german = self._object_relative(head, past, "acc")
        if english:
            head.english = head.english_object = f"{head.english} {english}"
            head.tail = f", {german},"
            head.contracts = False

    def _subject_relative(self, head: Phrase, past: bool) -> Pair:
        """ "who reads the book": der das Buch liest."""
        clause = self.clause(
            past, relative_pronoun("who", head), negate=0.08, time=0.1, relatives=0.0
        )
        return clause.english(), clause.german_last("")

    def _thing_relative(self, head: Phrase, past: bool) -> Pair:
        """ "that was very expensive": das sehr teuer war."""
        pronoun = relative_pronoun("that", head)
        pronoun.source = head.source
        if not self.lexicon.describing(head.source):
            return "", ""
        clause = Clause(pronoun, self.verbs["be"][0], "past" if past else "present")
        self.frames.fill(clause, 0.0)
        return clause.english(), clause.german_last("")

    def _genitive_relative(self, head: Phrase, past: bool) -> Pair:
        """ "whose brother sleeps": dessen Bruder schläft."""
        owned = genitive_relative(
            self.phrases.noun_phrase("person", "the", attributes=False), head.gender
        )
        clause = self.clause(past, owned, negate=0.05, time=0.1, relatives=0.0)
        return clause.english(), clause.german_last("")

    def _object_relative(self, head: Phrase, past: bool, frame: str) -> Pair:
        """ "that the man reads", "whom I help", "for whom we wait"; ("", "") where no verb fits."""
        verbs = self._verbs_taking(frame, head.source)
        if not verbs:
            return "", ""
        dice = self.dice
        verb = dice.pick(verbs)
        subject = (
            self.phrases.person()
            if dice.chance(0.6)
            else self.phrases.noun_phrase("person", "the", attributes=False)
        )
        clause = Clause(subject, verb, *self.tense(verb, past, subject))
        pronoun = RELATIVE[head.gender]
        who = "whom" if "person" in head.source.kinds else "that"
        if frame == "acc":
            return f"{who} {clause.english()}", clause.german_last(pronoun[ACCUSATIVE])
        if frame == "dat":
            return f"{who} {clause.english()}", clause.german_last(pronoun[DATIVE])
        german = f"{verb.german_preposition} {pronoun[verb.case]}"
        english = spaced(verb.english_preposition, who)
        return f"{english} {clause.english()}", clause.german_last(german)

    def _verbs_taking(self, frame: str, noun: Noun) -> tuple[Verb, ...]:
        """The verbs of a frame, with a person as subject, whose object the noun may be."""
        key = (frame, noun.english)
        found = self._taking.get(key)
        if found is None:
            found = tuple(
                verb
                for verb in self.person_verbs[frame]
                if self.lexicon.members(verb.object) & noun.kinds
                and " " not in verb.english_preposition
                and not (frame == "prep" and verb.english.particle)
            )
            self._taking[key] = found
        return found


def relative_pronoun(english: str, head: Phrase) -> Phrase:
    """The relative pronoun as a subject that agrees with its head."""
    phrase = Phrase(english, head.gender, RELATIVE[head.gender])
    phrase.pronoun = True
    return phrase
