"""The lexicon: stems with their principal parts and kinds, read from the files under tables/.

A noun belongs to kinds (person, food, ...); a verb says which kinds its subject and object may be, an adjective
which nouns it may describe, so that sentences make some sense.  A kind is named in a table by itself, by a group
(kinds.tsv) or by one English noun.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources

from weebill.corpus.synthetic.english import EnglishVerb, english_verb
from weebill.corpus.synthetic.german import CASES, GermanVerb, german_verb, noun_cases


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun; singular and plural are its four German cases, None where it has no such number."""

    english: str
    english_plural: str
    gender: str
    singular: tuple[str, str, str, str] | None
    plural: tuple[str, str, str, str] | None
    kinds: frozenset[str]
    head: str  # English head of a compound, else the noun itself

    @property
    def countable(self) -> bool:
        """Whether it has both numbers: book, but not milk or parents."""
        return self.singular is not None and self.plural is not None


@dataclass(frozen=True, slots=True)
class Degree:
    """An adjective in one degree: English form, German predicative form and attributive stem."""

    english: str
    german: str
    stem: str


@dataclass(frozen=True, slots=True)
class Adjective:
    """An adjective; comparative and superlative are None where it has no degrees."""

    positive: Degree
    comparative: Degree | None
    superlative: Degree | None
    kinds: frozenset[str]


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb of both languages; preposition and case are those of its prepositional object."""

    english: EnglishVerb
    german: GermanVerb
    frame: str
    subject: str
    object: str
    english_preposition: str
    german_preposition: str
    case: int
    simple: bool  # has no natural progressive: know, find


@dataclass(frozen=True, slots=True)
class Adverb:
    """An adverbial and the tenses that it goes with."""

    english: str
    german: str
    position: str  # time, frequency or opening
    tenses: frozenset[str]


@dataclass(frozen=True, slots=True)
class Place:
    """The prepositions of being at a place and of going there; `to_case` is the latter's case."""

    english_at: str
    german_at: str
    english_to: str
    german_to: str
    to_case: int


def read_table(name: str) -> list[dict[str, str]]:
    """The rows of tables/NAME.tsv."""
    path = resources.files("weebill.corpus.synthetic") / "tables" / f"{name}.tsv"
    lines = path.read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def split(field: str) -> list[str]:
    """The members of a comma-separated field."""
    return [part for part in field.split(",") if part]


class Lexicon:
    """All tables, indexed the ways the grammar asks for them."""

    def __init__(self) -> None:
        self.groups = {
            row["group"]: frozenset(split(row["members"])) for row in read_table("kinds")
        }
        self.stems = tuple(read_nouns())
        self.nouns = (*self.stems, *compound_nouns(self.stems))
        self.adjectives = tuple(self._adjective(row) for row in read_table("adjectives"))
        self.verbs = tuple(read_verb(row) for row in read_table("verbs"))
        self.adverbs = tuple(
            Adverb(row["english"], row["german"], row["position"], frozenset(split(row["tenses"])))
            for row in read_table("adverbs")
        )
        self.places = {row["noun"]: read_place(row) for row in read_table("places")}
        self.place_kinds = ",".join(self.places)
        names = read_table("names")
        self.people = tuple(row["english"] for row in names if row["kind"] == "person")
        self.towns = tuple(row for row in names if row["kind"] != "person")
        self._of_kinds: dict[str, tuple[Noun, ...]] = {}
        self._describing: dict[str, tuple[Adjective, ...]] = {}

    def of_kinds(self, kinds: str) -> tuple[Noun, ...]:
        """The nouns of any of the comma-separated kinds, groups or single English nouns.

        Raises ValueError where there are none: a slip in a table.
        """
        found = self._of_kinds.get(kinds)
        if found is None:
            wanted = self.members(kinds)
            found = tuple(noun for noun in self.nouns if wanted & noun.kinds)
            if not found:
                raise ValueError(f"no noun of the kinds {kinds!r} in tables/nouns.tsv")
            self._of_kinds[kinds] = found
        return found

    def describing(self, noun: Noun) -> tuple[Adjective, ...]:
        """The adjectives that may describe the noun; perhaps none."""
        found = self._describing.get(noun.english_plural + noun.english)
        if found is None:
            found = tuple(a for a in self.adjectives if a.kinds & noun.kinds)
            self._describing[noun.english_plural + noun.english] = found
        return found

    def members(self, kinds: str) -> frozenset[str]:
        """Comma-separated kinds with their groups resolved."""
        wanted: set[str] = set()
        for kind in split(kinds):
            if kind in self.groups:
                wanted |= self.members(",".join(self.groups[kind]))
            else:
                wanted.add(kind)
        return frozenset(wanted)

    @cached_property
    def by_frame(self) -> dict[str, tuple[Verb, ...]]:
        """The verbs of each frame."""
        frames: dict[str, list[Verb]] = {}
        for verb in self.verbs:
            frames.setdefault(verb.frame, []).append(verb)
        return {frame: tuple(verbs) for frame, verbs in frames.items()}

    @cached_property
    def adverbials(self) -> dict[tuple[str, str], tuple[Adverb, ...]]:
        """The adverbs by (position, tense)."""
        table: dict[tuple[str, str], list[Adverb]] = {}
        for adverb in self.adverbs:
            for tense in adverb.tenses:
                table.setdefault((adverb.position, tense), []).append(adverb)
        return {key: tuple(adverbs) for key, adverbs in table.items()}

    def _adjective(self, row: dict[str, str]) -> Adjective:
        predicative, _, attributive = row["german"].partition(":")
        positive = Degree(row["english"], predicative, attributive or attributive_stem(predicative))
        comparative = superlative = None
        if row["english_degrees"]:
            if row["english_degrees"] == "more most":
                more, most = f"more {row['english']}", f"most {row['english']}"
            else:
                more, most = row["english_degrees"].split(" ")
            comparative = Degree(more, row["comparative"], row["comparative"])
            superlative = Degree(most, "", row["superlative"])
        return Adjective(positive, comparative, superlative, self.members(row["kinds"]))


def attributive_stem(predicative: str) -> str:
    """The form that takes endings: müde -> müd."""
    return predicative.removesuffix("e")


def read_nouns() -> Iterator[Noun]:
    """The simple nouns of nouns.tsv."""
    for row in read_table("nouns"):
        cases = noun_cases(row["german"], row["gender"], row["genitive"], row["plural"])
        english = row["english"] if row["english"] != "-" else row["english_plural"]
        yield Noun(
            english=english,
            english_plural=row["english_plural"],
            gender=row["gender"],
            singular=cases.get("singular"),
            plural=cases.get("plural"),
            kinds=frozenset([*split(row["kinds"]), english]),
            head=english,
        )


def compound_nouns(stems: tuple[Noun, ...]) -> Iterator[Noun]:
    """English "winter coat", German "Wintermantel": gender and forms are the head's."""
    heads = {noun.english: noun for noun in stems}
    for row in read_table("compounds"):
        for name in split(row["heads"]):
            head = heads[name]
            joined = {
                number: forms and tuple(row["german"] + form.lower() for form in forms)
                for number, forms in (("singular", head.singular), ("plural", head.plural))
            }
            plural = head.english_plural
            yield Noun(
                english=f"{row['english']} {head.english}",
                english_plural=plural if plural == "-" else f"{row['english']} {plural}",
                gender=head.gender,
                kinds=head.kinds | {"compound"},
                head=head.english,
                **joined,
            )


def read_verb(row: dict[str, str]) -> Verb:
    """One row of verbs.tsv; its preposition is written "for>auf:acc"."""
    english, _, german = row["preposition"].partition(">")
    german, _, case = german.partition(":")
    return Verb(
        english=english_verb(row["english"], row["particle"]),
        german=german_verb(row["german"], row["auxiliary"]),
        frame=row["frame"],
        subject=row["subject"],
        object=row["object"],
        english_preposition=english,
        german_preposition=german,
        case=CASES[case] if case else 0,
        simple=row["aspect"] == "simple",
    )


def read_place(row: dict[str, str]) -> Place:
    """One row of places.tsv; the German preposition of going takes the dative unless it says ":acc"."""
    to, _, case = row["german_to"].partition(":")
    return Place(row["english_at"], row["german_at"], row["english_to"], to, CASES[case or "dat"])


@cache
def lexicon() -> Lexicon:
    """The lexicon, read once."""
    return Lexicon()
