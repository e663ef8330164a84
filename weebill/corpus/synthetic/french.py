"""Short French sentences: the third language of the wrong-language noise."""

from weebill.corpus.synthetic.dice import Dice
from weebill.corpus.synthetic.lexicon import read_table

VOWELS = tuple("aàâeéèêiîoôuûhœ")  # every h of the lexicon is mute
DETERMINERS = (  # masculine, feminine, before a vowel, plural
    ("le", "la", "l'", "les"),
    ("le", "la", "l'", "les"),
    ("un", "une", "", "des"),
    ("mon", "ma", "mon", "mes"),
    ("ce", "cette", "", "ces"),
)
MODALS = (("veut", "veulent"), ("peut", "peuvent"), ("doit", "doivent"), ("va", "vont"))


class FrenchMaker:
    """Random French sentences of three to about twenty words."""

    def __init__(self, seed: str) -> None:
        self.dice = Dice(seed)
        self.subjects = read_table("french_nouns")
        self.objects = read_table("french_objects")
        self.verbs = read_table("french_verbs")
        self.adjectives = read_table("french_adjectives")
        self.adjuncts = [row["french"] for row in read_table("french_adjuncts")]

    def sentence(self) -> str:
        """The next sentence."""
        dice = self.dice
        text = self._clause()
        chance = dice.random()
        if chance < 0.25:
            text = (
                f"{text} {dice.pick(('parce que', 'pendant que', 'et', 'mais'))} {self._clause()}"
            )
        elif chance < 0.6:
            text = f"{text} {dice.pick(self.adjuncts)}"
        return f"{text[0].upper()}{text[1:]}."

    def _clause(self) -> str:
        dice = self.dice
        subject, plural = self._noun_phrase(self.subjects)
        thing, _ = self._noun_phrase(self.objects)
        verb = dice.pick(self.verbs)
        if dice.chance(0.3):
            return f"{subject} {dice.pick(MODALS)[plural]} {verb['infinitive']} {thing}"
        form = verb["plural" if plural else "singular"]
        if dice.chance(0.15):
            negation = "n'" if form.startswith(VOWELS) else "ne "
            return f"{subject} {negation}{form} pas {thing}"
        return f"{subject} {form} {thing}"

    def _noun_phrase(self, nouns: list[dict[str, str]]) -> tuple[str, bool]:
        """A noun phrase, and whether it is plural."""
        dice = self.dice
        noun = dice.pick(nouns)
        plural = dice.chance(0.3)
        word = noun["plural" if plural else "singular"]
        masculine = noun["gender"] == "m"
        determiner = self._determiner(word, masculine, plural)
        phrase = determiner + word if determiner.endswith("'") else f"{determiner} {word}"
        if nouns is self.objects and dice.chance(0.4):
            adjective = dice.pick(self.adjectives)["masculine" if masculine else "feminine"]
            phrase += f" {adjective}{'s' if plural and not adjective.endswith('x') else ''}"
        return phrase, plural

    def _determiner(self, word: str, masculine: bool, plural: bool) -> str:
        forms = self.dice.pick(DETERMINERS)
        if plural:
            return forms[3]
        if word.startswith(VOWELS):
            if forms[2]:
                return forms[2]
            return "cet" if forms[0] == "ce" and masculine else forms[0 if masculine else 1]
        return forms[0 if masculine else 1]
