"""Adverbials of time, cause and place, each in both languages."""

from weebill.corpus.synthetic.clauses import Pair
from weebill.corpus.synthetic.dice import Dice
from weebill.corpus.synthetic.german import DATIVE, GENITIVE
from weebill.corpus.synthetic.lexicon import Lexicon
from weebill.corpus.synthetic.numbers import english_number, german_number
from weebill.corpus.synthetic.phrase_maker import PhraseMaker

BESIDE = (("next to", "neben"), ("behind", "hinter"), ("in front of", "vor"))
CIRCUMSTANCES = (
    ("because of", "wegen", "cause"),
    ("despite", "trotz", "cause"),
    ("during", "während", "show,session,occasion"),
)


class AdverbialMaker:
    """Random adverbials over a lexicon."""

    def __init__(self, lexicon: Lexicon, dice: Dice, phrases: PhraseMaker) -> None:
        self.lexicon = lexicon
        self.dice = dice
        self.phrases = phrases

    def time(self, tense: str) -> Pair:
        """A time adverbial that goes with present, past or future."""
        dice = self.dice
        if tense != "present" and dice.chance(0.2):
            return self.counted_time(tense)
        adverb = dice.pick(self.lexicon.adverbials["time", tense])
        return adverb.english, adverb.german

    def counted_time(self, tense: str) -> Pair:
        """ "three weeks ago", "in 1987", "in two years", "at 7 o'clock"."""
        dice = self.dice
        chance = dice.random()
        if chance < 0.35:
            hour = dice.between(2, 12)
            return f"at {hour} o'clock", f"um {hour} Uhr"
        if tense == "past" and chance < 0.6:
            year = dice.between(1850, 2024)
            return f"in {year}", f"im Jahr {year}"
        english_unit, german_unit = dice.pick(
            (("days", "Tagen"), ("weeks", "Wochen"), ("months", "Monaten"), ("years", "Jahren"))
        )
        number = dice.between(2, 12)
        english, german = english_number(number), german_number(number)
        if tense == "past":
            return f"{english} {english_unit} ago", f"vor {german} {german_unit}"
        return f"in {english} {english_unit}", f"in {german} {german_unit}"

    def circumstance(self) -> Pair:
        """ "because of the rain", "during the concert"."""
        english, german, kinds = self.dice.pick(CIRCUMSTANCES)
        phrase = self.phrases.noun_phrase(kinds, "the", attributes=False)
        return f"{english} {phrase.english}", f"{german} {phrase.german(GENITIVE)}"

    def whereabouts(self) -> Pair:
        """Being somewhere: "in the garden", "in Berlin"."""
        if self.dice.chance(0.2):
            town = self.dice.pick(self.lexicon.towns)
            article = "der " if town["kind"] == "country" else ""
            return f"in {town['english']}", f"in {article}{town['german']}"
        phrase = self.phrases.noun_phrase(self.lexicon.place_kinds, "the", attributes=False)
        place = self.lexicon.places[phrase.source.head]
        return f"{place.english_at} {phrase.english}", phrase.german_after(place.german_at, DATIVE)

    def destination(self) -> Pair:
        """Going somewhere: "to the station", "to Berlin"."""
        if self.dice.chance(0.3):
            town = self.dice.pick(self.lexicon.towns)
            to = "in die" if town["kind"] == "country" else "nach"
            return f"to {town['english']}", f"{to} {town['german']}"
        phrase = self.phrases.noun_phrase(self.lexicon.place_kinds, "the", attributes=False)
        place = self.lexicon.places[phrase.source.head]
        return (
            f"{place.english_to} {phrase.english}",
            phrase.german_after(place.german_to, place.to_case),
        )

    def spot(self, case: int, living: bool = False) -> Pair:
        """A place at a piece of furniture; the case tells lying there from being put there.

        living: who is there has no room in a bag, nor on a shelf.
        """
        dice = self.dice
        chance = dice.random()
        if chance < 0.4:
            english, german, kinds = "on", "auf", "seat" if living else "surface"
        elif chance < 0.55:
            english, german, kinds = "under", "unter", "surface,tree"
        elif chance < 0.7 and not living:
            english, german, kinds = "in", "in", "container"
        else:
            english, german = dice.pick(BESIDE)
            kinds = "furniture,door,window,building,vehicle,tree"
        phrase = self.phrases.noun_phrase(kinds, "the", attributes=False)
        return f"{english} {phrase.english}", phrase.german_after(german, case)
