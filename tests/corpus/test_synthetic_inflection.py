"""The grammar's inflection against tables written by hand from school grammars."""

import pytest

from weebill.corpus.synthetic.determiners import ALL, EVERY, MANY, NO, POSSESSIVES, THE, A
from weebill.corpus.synthetic.dice import Dice
from weebill.corpus.synthetic.english import (
    english_verb,
    indefinite_article,
    possessive,
    verb_group,
)
from weebill.corpus.synthetic.german import german_verb, with_preposition
from weebill.corpus.synthetic.lexicon import lexicon
from weebill.corpus.synthetic.numbers import english_number, german_number
from weebill.corpus.synthetic.phrase_maker import PhraseMaker
from weebill.corpus.synthetic.phrases import Phrase

ARTICLES = """
    der den dem des  | die die der der     | das das dem des    | die die den der
    ein einen einem eines | eine eine einer einer | ein ein einem eines | -
    kein keinen keinem keines | keine keine keiner keiner | kein kein keinem keines | keine keine keinen keiner
    unser unseren unserem unseres | unsere unsere unserer unserer | unser unser unserem unseres | unsere unsere unseren unserer
    jeder jeden jedem jedes | jede jede jeder jeder | jedes jedes jedem jedes | -
"""  # noqa: E501
PHRASES = [  # determiner, adjective stem, noun, plural, the four cases
    (THE, "alt", "man", False, "der alte Mann, den alten Mann, dem alten Mann, des alten Mannes"),
    (
        A,
        "alt",
        "man",
        False,
        "ein alter Mann, einen alten Mann, einem alten Mann, eines alten Mannes",
    ),
    (
        NO,
        "neu",
        "book",
        False,
        "kein neues Buch, kein neues Buch, keinem neuen Buch, keines neuen Buches",
    ),
    (
        THE,
        "klein",
        "cat",
        False,
        "die kleine Katze, die kleine Katze, der kleinen Katze, der kleinen Katze",
    ),
    (
        A,
        "klein",
        "cat",
        False,
        "eine kleine Katze, eine kleine Katze, einer kleinen Katze, einer kleinen Katze",
    ),
    (THE, "rot", "car", True, "die roten Autos, die roten Autos, den roten Autos, der roten Autos"),
    (
        MANY,
        "rot",
        "apple",
        True,
        "viele rote Äpfel, viele rote Äpfel, vielen roten Äpfeln, vieler roter Äpfel",
    ),
    (
        ALL,
        "gut",
        "friend",
        True,
        "alle guten Freunde, alle guten Freunde, allen guten Freunden, aller guten Freunde",
    ),
    (
        EVERY,
        "jung",
        "boy",
        False,
        "jeder junge Junge, jeden jungen Jungen, jedem jungen Jungen, jedes jungen Jungen",
    ),
    (THE, "", "student", False, "der Student, den Studenten, dem Studenten, des Studenten"),
    (THE, "", "neighbour", False, "der Nachbar, den Nachbarn, dem Nachbarn, des Nachbarn"),
    (
        THE,
        "",
        "winter coat",
        True,
        "die Wintermäntel, die Wintermäntel, den Wintermänteln, der Wintermäntel",
    ),
    (THE, "", "school book", False, "das Schulbuch, das Schulbuch, dem Schulbuch, des Schulbuches"),
    (
        A,
        "hoh",
        "mountain",
        False,
        "ein hoher Berg, einen hohen Berg, einem hohen Berg, eines hohen Berges",
    ),
]
VERBS = """
    lesen      | lese liest lesen          | las lasen               | gelesen       | zu lesen
    geben      | gebe gibt geben           | gab gaben               | gegeben       | zu geben
    fahren     | fahre fährt fahren        | fuhr fuhren             | gefahren      | zu fahren
    laufen     | laufe läuft laufen        | lief liefen             | gelaufen      | zu laufen
    schreien   | schreie schreit schreien  | schrie schrien          | geschrien     | zu schreien
    wissen     | weiß weiß wissen          | wusste wussten          | gewusst       | zu wissen
    mögen      | mag mag mögen             | mochte mochten          | gemocht       | zu mögen
    haben      | habe hat haben            | hatte hatten            | gehabt        | zu haben
    werden     | werde wird werden         | wurde wurden            | geworden      | zu werden
    sein       | bin ist sind              | war waren               | gewesen       | zu sein
    arbeiten   | arbeite arbeitet arbeiten | arbeitete arbeiteten    | gearbeitet    | zu arbeiten
    öffnen     | öffne öffnet öffnen       | öffnete öffneten        | geöffnet      | zu öffnen
    zeichnen   | zeichne zeichnet zeichnen | zeichnete zeichneten    | gezeichnet    | zu zeichnen
    wohnen     | wohne wohnt wohnen        | wohnte wohnten          | gewohnt       | zu wohnen
    lernen     | lerne lernt lernen        | lernte lernten          | gelernt       | zu lernen
    lächeln    | lächle lächelt lächeln    | lächelte lächelten      | gelächelt     | zu lächeln
    füttern    | füttere füttert füttern   | fütterte fütterten      | gefüttert     | zu füttern
    reisen     | reise reist reisen        | reiste reisten          | gereist       | zu reisen
    reparieren | repariere repariert reparieren | reparierte reparierten | repariert | zu reparieren
    besuchen   | besuche besucht besuchen  | besuchte besuchten      | besucht       | zu besuchen
    verstehen  | verstehe versteht verstehen | verstand verstanden   | verstanden    | zu verstehen
    übersetzen | übersetze übersetzt übersetzen | übersetzte übersetzten | übersetzt | zu übersetzen
    aufstehen  | stehe steht stehen        | stand standen           | aufgestanden  | aufzustehen
    ankommen   | komme kommt kommen        | kam kamen               | angekommen    | anzukommen
    anrufen    | rufe ruft rufen           | rief riefen             | angerufen     | anzurufen
    einladen   | lade lädt laden           | lud luden               | eingeladen    | einzuladen
    vorbereiten | bereite bereitet bereiten | bereitete bereiteten   | vorbereitet   | vorzubereiten
    einschalten | schalte schaltet schalten | schaltete schalteten   | eingeschaltet | einzuschalten
    teilnehmen | nehme nimmt nehmen        | nahm nahmen             | teilgenommen  | teilzunehmen
"""
SEIN = "gehen fahren laufen reisen kommen schwimmen aufstehen einschlafen sterben bleiben wachsen folgen"
HABEN = "lesen schlafen stehen liegen sitzen warten helfen anfangen arbeiten tragen sich_beeilen"


def cells(line: str) -> list[list[str]]:
    return [cell.split() for cell in line.split("|")]


@pytest.mark.parametrize(
    ("determiner", "line"),
    list(zip((THE, A, NO, POSSESSIVES[4], EVERY), ARTICLES.strip().splitlines(), strict=True)),
)
def test_articles(determiner, line):
    for gender, forms in zip("mfnp", cells(line), strict=True):
        if forms != ["-"]:
            assert list(determiner.german[gender]) == forms


@pytest.mark.parametrize(("determiner", "adjective", "english", "plural", "expected"), PHRASES)
def test_noun_phrases(determiner, adjective, english, plural, expected):
    noun = next(noun for noun in lexicon().nouns if noun.english == english)
    gender = "p" if plural else noun.gender
    forms = noun.plural if plural else noun.singular
    phrase = Phrase(english, gender, forms, determiner.german[gender])
    phrase.endings = determiner.endings[gender]
    phrase.adjectives = [adjective] if adjective else []
    assert ", ".join(phrase.german(case) for case in range(4)) == expected


@pytest.mark.parametrize("line", VERBS.strip().splitlines())
def test_verbs(line):
    (infinitive,), present, past, (participle,), zu = cells(line)
    verb = next(v.german for v in lexicon().verbs if v.german.infinitive == infinitive)
    assert list(verb.present) == present
    assert [verb.past[1], verb.past[2]] == past
    assert verb.participle == participle
    assert verb.infinitive_zu == " ".join(zu)


def test_perfect_auxiliaries():
    auxiliary = {
        ("sich_" if v.german.reflexive else "") + v.german.infinitive: v.german.auxiliary
        for v in lexicon().verbs
    }
    assert {auxiliary[verb] for verb in SEIN.split()} == {"sein"}
    assert {auxiliary[verb] for verb in HABEN.split()} == {"haben"}


def test_every_german_participle_looks_like_one():
    for verb in (v.german for v in lexicon().verbs):
        participle = verb.participle.removeprefix(verb.prefix)
        base = verb.infinitive.removeprefix(verb.prefix)
        assert participle.endswith(("t", "en", "n")), participle
        unstressed = base.startswith(
            ("be", "ge", "er", "ver", "zer", "ent", "emp", "über", "unter", "wider")
        )
        assert participle.startswith("ge") or unstressed or base.endswith("ieren"), participle


def test_english_verbs():
    assert english_verb("carry").third == "carries"
    assert english_verb("carry").past == "carried"
    assert english_verb("play").past == "played"
    assert english_verb("wash").third == "washes"
    assert english_verb("write wrote written").progressive == "writing"
    assert english_verb("lie lay lain lying").progressive == "lying"
    assert english_verb("see saw seen").progressive == "seeing"
    assert english_verb("have had had").third == "has"


@pytest.mark.parametrize(
    ("person", "tense", "modal", "support", "expected"),
    [
        (1, "present", "", False, ("", "reads")),
        (2, "present", "", True, ("do", "read")),
        (1, "past", "", True, ("did", "read")),
        (0, "progressive", "", False, ("am", "reading")),
        (1, "perfect", "", False, ("has", "read")),
        (1, "present", "have to", False, ("", "has to read")),
        (1, "present", "have to", True, ("does", "have to read")),
        (2, "past", "want to", False, ("", "wanted to read")),
        (2, "past", "be allowed to", False, ("were", "allowed to read")),
        (1, "past", "can", False, ("could", "read")),
    ],
)
def test_english_verb_groups(person, tense, modal, support, expected):
    assert verb_group(english_verb("read read read"), person, tense, modal, support) == expected


def test_contractions():
    assert with_preposition("in", "dem Haus", True) == "im Haus"
    assert with_preposition("zu", "der Schule", True) == "zur Schule"
    assert with_preposition("in", "das Haus", True) == "ins Haus"
    assert with_preposition("in", "dem Haus", False) == "in dem Haus"
    assert with_preposition("mit", "dem Zug", True) == "mit dem Zug"


def test_numbers():
    german = {2: "zwei", 16: "sechzehn", 17: "siebzehn", 21: "einundzwanzig", 30: "dreißig"}
    german |= {
        76: "sechsundsiebzig",
        101: "hunderteins",
        342: "dreihundertzweiundvierzig",
        200: "zweihundert",
    }
    german[101] = "einhunderteins"
    assert {number: german_number(number) for number in german} == german
    assert english_number(342) == "three hundred and forty-two"
    assert english_number(40) == "forty"
    with pytest.raises(ValueError, match="1000"):
        german_number(1000)


def test_small_words():
    assert indefinite_article("old man") == "an"
    assert indefinite_article("university") == "a"
    assert indefinite_article("honest man") == "an"
    assert possessive("the boys", plural=True) == "the boys'"
    assert possessive("the children", plural=True) == "the children's"


def test_the_lexicon_is_large_and_consistent():
    words = lexicon()
    assert len(words.stems) >= 250
    assert len({v.german.infinitive for v in words.verbs}) >= 150
    assert len(words.adjectives) >= 60
    assert len({noun.english for noun in words.nouns}) == len(words.nouns)
    maker = PhraseMaker(words, Dice("test"))
    for verb in words.verbs:
        for kinds in (verb.subject, verb.object):
            if kinds:
                assert maker.noun_phrase(kinds).german(0)
                known = {kind for noun in words.nouns for kind in noun.kinds}
                assert words.members(kinds) <= known, (verb.german.infinitive, kinds)
    for adjective in words.adjectives:
        known = {kind for noun in words.nouns for kind in noun.kinds}
        assert adjective.kinds <= known, (adjective.positive.english, adjective.kinds - known)


def test_weak_verb_without_parts():
    verb = german_verb("auf|räumen", "haben")
    assert (verb.participle, verb.infinitive_zu, verb.present[1]) == (
        "aufgeräumt",
        "aufzuräumen",
        "räumt",
    )
