"""Damage done to sentence pairs on purpose, one function a type, so that cleaning can be judged."""

from collections import deque
from collections.abc import Callable

from weebill.corpus.injected_noise import RECENT, truncated
from weebill.corpus.synthetic.clauses import Pair
from weebill.corpus.synthetic.dice import Dice
from weebill.corpus.synthetic.french import FrenchMaker

NOISE_TYPES = (
    "misaligned",
    "wrong_language",
    "copied",
    "truncated",
    "garbled",
    "near_duplicate",
)


class NoiseMaker:
    """Damages pairs, the types taking turns in random order.

    `fresh()` gives a pair that stands nowhere else, which all but near-duplicates begin with.
    """

    def __init__(self, seed: str, fresh: Callable[[], Pair]) -> None:
        self.dice = Dice(seed)
        self.french = FrenchMaker(f"{seed}/french")
        self.fresh = fresh
        self.recent: deque[Pair] = deque(maxlen=RECENT)
        self.bag: list[str] = []

    def next_type(self) -> str:
        """The next type; "misaligned" instead of a near-duplicate while there is nothing to repeat."""
        if not self.bag:
            self.bag = list(NOISE_TYPES)
        kind = self.bag.pop(int(self.dice.random() * len(self.bag)))
        return "misaligned" if kind == "near_duplicate" and not self.recent else kind

    def remember(self, pair: Pair) -> None:
        """An undamaged pair of the corpus, which a near-duplicate may repeat."""
        self.recent.append(pair)

    def damage(self, kind: str) -> Pair:
        """A damaged pair of the type."""
        return getattr(self, f"_{kind}")()

    def _misaligned(self) -> Pair:
        """The target of another sentence."""
        return self.fresh()[0], self.fresh()[1]

    def _wrong_language(self) -> Pair:
        """One side in French."""
        source, target = self.fresh()
        french = self.french.sentence()
        return (french, target) if self.dice.chance(0.5) else (source, french)

    def _copied(self) -> Pair:
        """The source on both sides."""
        source, _ = self.fresh()
        return source, source

    def _truncated(self) -> Pair:
        """One side broken off in its first half."""
        while (pair := truncated(self.fresh(), self.dice.random)) is None:
            pass
        return pair

    def _garbled(self) -> Pair:
        """One side or both in a broken encoding; whatever it is, it stays valid UTF-8."""
        source, target = self.fresh()
        chance = self.dice.random()
        if not target.isascii():
            target = mojibake(target, "cp1252" if chance < 0.7 else "latin-1")
        elif chance < 0.4:
            target = as_utf16(target)
        elif chance < 0.7:
            target = self._with_replacement_characters(target)
        else:
            source = self._with_replacement_characters(source)
        return source, target

    def _with_replacement_characters(self, text: str) -> str:
        """A third of the letters lost, the first of them always."""
        letters = [i for i, character in enumerate(text) if character.isalpha()]
        lost = {letters[0], *(i for i in letters if self.dice.chance(0.33))}
        return "".join("\ufffd" if i in lost else c for i, c in enumerate(text))

    def _near_duplicate(self) -> Pair:
        """An earlier pair with other case, punctuation or spacing."""
        source, target = self.dice.pick(self.recent)
        change = self.dice.pick(VARIATIONS)
        both = self.dice.chance(0.7)
        return change(source), change(target) if both else target


def mojibake(text: str, encoding: str) -> str:
    """UTF-8 read as an old one-byte encoding: "Tür" -> "TÃ¼r"."""
    return text.encode("utf-8").decode(encoding)


def as_utf16(text: str) -> str:
    """ASCII bytes read as UTF-16: every two letters become one character of some other script."""
    even = text[: len(text) // 2 * 2]
    return even.encode("ascii").decode("utf-16-le")


VARIATIONS: tuple[Callable[[str], str], ...] = (
    str.lower,
    str.upper,
    lambda text: text.rstrip(".?"),
    lambda text: text[:-1] + "!",
    lambda text: f"{text[:-1]} {text[-1]}",
    lambda text: text.replace(" ", "  ", 1),
    lambda text: f" {text} ",
    lambda text: f'"{text}"',
    lambda text: f"- {text}",
)
