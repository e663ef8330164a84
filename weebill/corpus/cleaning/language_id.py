"""Filters of sides in a wrong language, by fastText."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np

from weebill.corpus.cleaning.joined_lines import joined_lines, sums
from weebill.corpus.cleaning.letters import letters_of
from weebill.corpus.cleaning.pairs import Context, Pairs, none
from weebill.corpus.language_codes import covers, same_language, share_script, unicode_scripts
from weebill.errors import InputError
from weebill.settings import Amount, Language, Place, Sha256, Share, Unique
from weebill_runtime.names import Side

# fastText's time grows with the length of a line, so only the two ends of a long line are read first.  The line is
# accepted if the ends are clearly in the expected language; all other lines are read whole.  With lid.176 this
# changed the verdict on 6 of 103,706 real lines (news, Europarl, crawled, software, medicine, Tatoeba).  Of 4,429
# lines that joined half an English and half a German line, it accepted 124; with only the first 64 characters, 2,543
# were accepted.
END_CHARACTERS = 32
SURE = 0.7  # probability of the expected language

# A line is accepted without the identifier if this share of its characters are letters of scripts that no other
# language of the identifier has, such as kana for Japanese, Thai or Greek.  Of 13,862 Japanese lines of Tatoeba, this
# accepted 52 that lid.176 takes for Chinese.
OWN_LETTERS = 0.25

# Languages that identifiers confuse, because their texts differ in few words.
SIMILAR = ("bs cnr hr sh sr", "id ms", "da nb nn no", "gl pt")


@dataclass(frozen=True)
class LanguageId:
    """Language identification of both sides by fastText."""

    model: Place
    """Path or `https://` address of a fastText model, or `tatoeba`, a model for the demo that is trained on embedded
    sentences in English, German, French and Dutch."""
    sha256: Sha256 | None = None
    """Checksum of the model; an address needs one."""
    min_probability: Share = 0.0
    """Smallest probability of the language. With 0, the language only has to be the most likely one, and long lines
    are judged by their ends."""
    min_letters: Amount = 10
    """Fewest letters of lines whose language is identified; only the rules judge shorter lines, by their script. A
    Chinese letter counts as 3, kana as 1.5, Hangul as 2.3."""
    accept_similar: bool = True
    """Also accept languages that identifiers confuse with that of the side (Bosnian, Croatian, Montenegrin and
    Serbian; Indonesian and Malay; Danish and both kinds of Norwegian; Galician and Portuguese), and the language that
    a variant belongs to, such as Chinese for `yue` or Arabic for `arz`. The language of the other side is never
    accepted; variants, such as Cantonese for `zh`, always are."""
    accept: Annotated[tuple[Language, ...], Unique()] = ()
    """Further languages that are accepted, such as `[es]` for text in `gl`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "accept", tuple(self.accept))  # a configuration gives a list


class LanguageIdentifier:
    """Loaded fastText model.  Raises InputError if the model is missing or damaged, or lacks a language."""

    def __init__(self, config: LanguageId, languages: tuple[str, ...]) -> None:
        import fasttext  # imported here because it loads slowly

        path = Path(config.model)
        if not path.is_file():
            message = f"{path}: no such language identification model; check language_id.model"
            raise InputError(message)
        fasttext.FastText.eprint = lambda *args, **kwargs: None  # no outdated warning
        try:
            self._model = fasttext.load_model(str(path))
        except (ValueError, RuntimeError, MemoryError) as error:
            raise InputError(f"{path}: not a fastText model ({error}); fetch it again") from error
        self._accepted = {}  # labels by expected language
        self._own = {}  # letters, (0x110000,) bool, that only one language has, by that language
        for language in languages:
            others = [one for one in languages if one != language]
            known = self._model.get_labels()
            found = {label for label in known if _acceptable(label, language, others, config)}
            if not any(covers(language, label) for label in found):
                message = f"{path}: does not know the language '{language}'; choose another model"
                raise InputError(message)
            self._accepted[language] = frozenset(found)
            foreign = {script for label in set(known) - found for script in unicode_scripts(label)}
            own = tuple(one for one in unicode_scripts(language) if one not in foreign)
            if own and not config.min_probability:
                self._own[language] = letters_of(own)
        self._min_probability = config.min_probability
        self.min_letters = config.min_letters

    def reject(self, texts: list[str], language: str) -> np.ndarray:
        """Return the lines, (rows,) bool, whose most probable language is another one or not probable enough.

        Without `min_probability`, a line may be judged by its script or its ends; see OWN_LETTERS and END_CHARACTERS.
        Lines of capitals are judged in small letters, since identifiers have seen few of them.
        """
        if language not in self._own:
            return self._reject_asked(texts, language)
        codes, bounds = joined_lines(texts)
        own = sums(self._own[language][codes].view(np.uint8), bounds)
        rejected = own < OWN_LETTERS * np.diff(bounds)
        asked = np.flatnonzero(rejected)
        rejected[asked] = self._reject_asked([texts[row] for row in asked.tolist()], language)
        return rejected

    def _reject_asked(self, texts: list[str], language: str) -> np.ndarray:
        texts = [text.capitalize() if text.isupper() else text for text in texts]
        rejected = self._by_ends(texts, language)
        # A line of mostly capitals, such as a heading with a name in it, is identified again.
        capitals = [
            row for row in np.flatnonzero(rejected).tolist() if _mostly_capitals(texts[row])
        ]
        rejected[capitals] = self._by_ends([texts[row].capitalize() for row in capitals], language)
        return rejected

    def _by_ends(self, texts: list[str], language: str) -> np.ndarray:
        if self._min_probability > 0:
            return self.reject_whole(texts, language)
        longest, half = 2 * END_CHARACTERS, END_CHARACTERS
        ends = [t if len(t) <= longest else f"{t[:half]} {t[-half:]}" for t in texts]
        long = np.fromiter((len(text) > longest for text in texts), bool, len(texts))
        rejected = self.reject_whole(ends, language, np.where(long, SURE, 0.0).tolist())
        doubtful = np.flatnonzero(rejected & long)
        whole = [texts[row] for row in doubtful.tolist()]
        rejected[doubtful] = self.reject_whole(whole, language)
        return rejected

    def reject_whole(
        self, texts: list[str], language: str, least: Sequence[float] | None = None
    ) -> np.ndarray:
        """Return the same as `reject`, but always judge whole, unchanged lines.

        least: smallest probability of each line; by default that of the settings.
        """
        if not texts:
            return np.zeros(0, bool)
        least = least or [self._min_probability] * len(texts)
        labels, probabilities = self._model.predict(texts)
        accepted = self._accepted[language]
        rejected = (
            not label or label[0] not in accepted or probability[0] < smallest
            for label, probability, smallest in zip(labels, probabilities, least, strict=True)
        )
        return np.fromiter(rejected, bool, len(texts))


def _acceptable(label: str, language: str, others: list[str], config: LanguageId) -> bool:
    """Return True if a line with this label may be in the language; others: languages of the other side."""
    if covers(language, label):
        return True
    if any(same_language(other, label) for other in others):
        return False
    if config.accept_similar and covers(label, language):  # its macrolanguage: zh for yue
        return True
    groups = [group.split() for group in SIMILAR] if config.accept_similar else []
    similar = [
        one for group in groups if any(same_language(language, o) for o in group) for one in group
    ]
    return share_script(language, label) and any(
        same_language(one, label) for one in (*similar, *config.accept)
    )


def _mostly_capitals(text: str) -> bool:
    return 2 * sum(map(str.isupper, text)) > sum(map(str.isalpha, text))


def language_source(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs whose source is not in the source language."""
    return _wrong_language(pairs, context, "source")


def language_target(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs whose target is not in the target language."""
    return _wrong_language(pairs, context, "target")


def _wrong_language(pairs: Pairs, context: Context, side: Side) -> np.ndarray:
    if context.identifier is None or side not in pairs.named:
        return none(pairs)
    place = pairs.named.index(side)
    texts, rejected = pairs.sides[place], none(pairs)
    long = np.flatnonzero(pairs.features[place].letters >= context.identifier.min_letters)
    asked = texts if len(long) == len(texts) else [texts[row] for row in long.tolist()]
    rejected[long] = context.identifier.reject(asked, pairs.languages[place])
    return rejected
