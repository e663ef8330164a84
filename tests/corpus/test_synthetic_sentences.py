"""Whole sentences: translations written by hand, word order read back from the text, and one translation each."""

import re

import pytest

from weebill.corpus.synthetic.clauses import Clause, finish
from weebill.corpus.synthetic.determiners import NOT_A, THE, A
from weebill.corpus.synthetic.german import ACCUSATIVE, DATIVE
from weebill.corpus.synthetic.lexicon import lexicon
from weebill.corpus.synthetic.phrases import Phrase, personal
from weebill.corpus.synthetic.sentences import MAX_WORDS, MIN_WORDS, SentenceMaker

CONJUNCTIONS = ("weil", "obwohl", "wenn", "bevor", "sobald", "damit", "nachdem", "dass", "ob")


@pytest.fixture(scope="module")
def pairs() -> list[tuple[str, str]]:
    maker = SentenceMaker(lexicon(), "order")
    return [maker.pair() for _ in range(20_000)]


def verb(german: str, frame: str):
    return next(v for v in lexicon().verbs if v.frame == frame and v.german.infinitive == german)


def phrase(determiner, english: str, words: str = "") -> Phrase:
    noun = next(noun for noun in lexicon().nouns if noun.english == english)
    made = Phrase(
        words or f"the {english}", noun.gender, noun.singular, determiner.german[noun.gender]
    )
    made.contracts = determiner is THE
    return made


def reading(tense: str, modal: str = "") -> Clause:
    """The boy, reading the book yesterday or so."""
    clause = Clause(phrase(THE, "boy"), verb("lesen", "acc"), tense, modal)
    clause.english_objects = "the book"
    clause.german_objects = phrase(THE, "book").german(ACCUSATIVE)
    return clause


@pytest.mark.parametrize(
    ("tense", "modal", "second", "last", "english"),
    [
        ("present", "", "liest das Buch", "das Buch liest", "reads the book"),
        ("past", "", "las das Buch", "das Buch las", "read the book"),
        (
            "progressive",
            "",
            "liest gerade das Buch",
            "gerade das Buch liest",
            "is reading the book",
        ),
        ("perfect", "", "hat das Buch gelesen", "das Buch gelesen hat", "has read the book"),
        ("pluperfect", "", "hatte das Buch gelesen", "das Buch gelesen hatte", "had read the book"),
        ("future", "", "wird das Buch lesen", "das Buch lesen wird", "will read the book"),
        ("present", "can", "kann das Buch lesen", "das Buch lesen kann", "can read the book"),
        (
            "past",
            "have to",
            "musste das Buch lesen",
            "das Buch lesen musste",
            "had to read the book",
        ),
        (
            "present",
            "should",
            "sollte das Buch lesen",
            "das Buch lesen sollte",
            "should read the book",
        ),
    ],
)
def test_tenses_in_every_order(tense, modal, second, last, english):
    clause = reading(tense, modal)
    assert clause.english() == f"the boy {english}"
    assert clause.german() == f"der Junge {second}"
    assert clause.german_last("weil") == f"weil der Junge {last}"
    finite, _, rest = second.partition(" ")
    assert clause.german_inverted() == f"{finite} der Junge {rest}"
    assert clause.german_inverted("heute") == f"heute {finite} der Junge {rest}"


def test_separable_verb_in_every_order():
    clause = Clause(personal("we"), verb("anrufen", "acc"), "past")
    clause.german_objects = phrase(A, "doctor").german(ACCUSATIVE)
    assert clause.german() == "wir riefen einen Arzt an"
    assert clause.german_last("dass") == "dass wir einen Arzt anriefen"
    assert clause.german_infinitive() == "einen Arzt anzurufen"
    clause.tense = "perfect"
    assert clause.german_last("dass") == "dass wir einen Arzt angerufen haben"


def test_reflexive_verb_in_every_order():
    clause = Clause(personal("I"), verb(["sich", "erinnern"][1], "prep"), "present")
    clause.german_late = phrase(THE, "boy").german_after("an", ACCUSATIVE)
    assert clause.german() == "ich erinnere mich an den Jungen"
    assert clause.german_last("weil") == "weil ich mich an den Jungen erinnere"
    clause.subject = phrase(THE, "king")
    assert clause.german_inverted("heute") == "heute erinnert sich der König an den Jungen"


def test_genitive_relative_clause_of_a_reflexive_verb():
    clause = Clause(phrase(THE, "brother"), verb("erinnern", "prep"), "past")
    clause.subject.article = ("dessen",) * 4
    clause.german_late = "an uns"
    assert clause.german_last("") == "dessen Bruder sich an uns erinnerte"


def test_negation():
    clause = reading("present")
    clause.negated, clause.nicht = True, "nicht"
    assert clause.english() == "the boy does not read the book"
    assert clause.german() == "der Junge liest das Buch nicht"
    clause.nicht, clause.german_objects = "", phrase(NOT_A, "book").german(ACCUSATIVE)
    assert clause.german() == "der Junge liest kein Buch"


def test_two_way_prepositions():
    table = phrase(THE, "table")
    assert table.german_after("auf", DATIVE) == "auf dem Tisch"
    assert table.german_after("auf", ACCUSATIVE) == "auf den Tisch"
    assert phrase(THE, "house").german_after("in", DATIVE) == "im Haus"
    assert phrase(THE, "house").german_after("in", ACCUSATIVE) == "ins Haus"


def test_finish_cleans_the_seams():
    assert finish("der Mann, der schläft,, weil er müde ist,", ".") == (
        "Der Mann, der schläft, weil er müde ist."
    )


AUXILIARIES = """
    hat habe haben hatte hatten bin ist sind war waren werde wird werden wurde wurden gibt gab
    kann können konnte konnten muss müssen musste mussten darf dürfen durfte durften
    will wollen wollte wollten sollte sollten möchte möchten
"""


def finite_forms() -> set[str]:
    """Every form a finite verb of the grammar can have, prefix joined or apart."""
    forms = set(AUXILIARIES.split())
    for entry in lexicon().verbs:
        german = entry.german
        for form in (*german.present, *german.past):
            forms |= {form, german.prefix + form}
    return forms


def test_subordinate_clauses_end_in_their_finite_verb(pairs):
    finite = finite_forms()
    checked = 0
    for _, german in pairs:
        # The clause from its conjunction to its end; relative clauses inside would hide the end.
        for conjunction in CONJUNCTIONS:
            found = re.search(rf"(?:^|, ){conjunction} ([^,]*)[,.]", german, flags=re.IGNORECASE)
            if found and german.count(",") == 1:
                checked += 1
                assert found[1].split()[-1] in finite, german
    assert checked > 2500


def test_statements_have_their_verb_second(pairs):
    finite = finite_forms()
    openings = {
        adverb.german for adverb in lexicon().adverbs if adverb.position in ("time", "opening")
    }
    checked = 0
    for _, german in pairs:
        if german.endswith("?") or "," in german or " und " in german or " oder " in german:
            continue
        opening = next((o for o in openings if german.lower().startswith(f"{o.lower()} ")), None)
        if opening:
            checked += 1
            assert german[len(opening) :].split()[0].rstrip(".") in finite, german
        elif german.split()[0] in ("Ich", "Er", "Wir"):
            checked += 1
            assert german.split()[1].rstrip(".") in finite, german
    assert checked > 1000


def test_yes_no_questions_begin_with_the_verb(pairs):
    finite = finite_forms()
    questions = [
        (english, german)
        for english, german in pairs
        if german.endswith("?")
        and english.split()[0] in ("Do", "Does", "Did", "Has", "Have", "Will")
    ]
    assert len(questions) > 300
    for _, german in questions:
        first = german.split()[0]
        assert first[0].lower() + first[1:] in finite, german


def test_sentences_are_well_formed(pairs):
    for english, german in pairs:
        for side in (english, german):
            assert MIN_WORDS <= len(side.split()) <= MAX_WORDS
            assert (side[0].isupper() or side[0].isdigit()) and side[-1] in ".?"
            assert not re.search(r"  |,,| ,| \.|,\.|,\?|\t", side), side
        assert sorted(re.findall(r"\d+", english)) == sorted(re.findall(r"\d+", german))
        assert (english[-1] == "?") == (german[-1] == "?")


def test_case_agreement_in_prepositional_phrases(pairs):
    """Prepositions of one case are never followed by an article of another."""
    wrong = {
        "mit|von|bei|aus|nach": "den [A-ZÄÖÜ][a-zäöüß]*[^ns\\W][ .,]|das |die |einen |ein |eine ",
        "für|ohne|gegen|um": "dem |der |einem |einer ",
        "wegen|trotz": "dem |den |einem |die |das ",
    }
    for _, german in pairs:
        for prepositions, article in wrong.items():
            found = re.search(rf"\b({prepositions}) ({article})", german)
            assert not found or found[1] == "um", german


def test_a_sentence_has_one_translation():
    translation: dict[str, str] = {}
    for seed in range(3):
        maker = SentenceMaker(lexicon(), f"one translation {seed}")
        for _ in range(20_000):
            english, german = maker.pair()
            assert translation.setdefault(english, german) == german


@pytest.mark.parametrize(
    ("english", "german"),
    [
        (r"^Because .*, ", r"^(Weil|Wegen) "),
        (r" whose ", r", (dessen|deren) "),
        (r"\bthe \w+ that (he|she|we)\b", r", (den|das|die) (er|sie|wir)\b"),
        (r"in order to", r", um (.* )?(zu \w|\w+zu\w+n\b)"),
        (r" not .* yet\b", r"noch nicht"),
        (r"^Please ", r"^\w+ Sie .*bitte"),
        (r"\bis (read|sell|look|eat|build|help)ing\b", r"\bgerade\b"),
        (r"\w+er than\b", r"\w+er als"),
        (r"was \w+ed by", r"wurde .*von|wurde .*vom"),
        (r"There (are|is|were|was)", r"^Es g[ia]bt? "),
        (r" had \w+ed\b", r"\b(hatten?|war|waren)\b"),
    ],
)
def test_phenomena_occur_and_correspond(pairs, english, german):
    found = [(e, g) for e, g in pairs if re.search(english, e)]
    assert len(found) >= 3
    for e, g in found:
        assert re.search(german, g), (e, g)


def test_pronouns_take_the_grammatical_gender(pairs):
    genders = {
        "er": "table coat letter key hat cake contract tower suitcase novel pencil mirror garden",
        "sie": "bag jacket lamp watch soup bottle newspaper church bill cup doll pear camera question",
        "es": "book shirt car house picture bicycle glass boat bed poem dress knife castle egg",
    }
    pronoun_of = {noun: pronoun for pronoun, nouns in genders.items() for noun in nouns.split()}
    found = set()
    for english, german in pairs:
        match = re.search(r"(\w+),? (?:because|although|but) it (?:is|was) (?!rain|snow)", english)
        if match and match[1] in pronoun_of:
            pronoun = re.search(r", (?:weil|obwohl|aber) (\w+) ", german)[1]
            assert pronoun == pronoun_of[match[1]], (english, german)
            found.add(pronoun)
    assert found == {"er", "sie", "es"}
