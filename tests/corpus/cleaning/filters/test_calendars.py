"""Decades, years and times of day count as equal numbers in every usual spelling."""

import pytest

from tests.corpus.cleaning.verdicts import verdicts


@pytest.mark.parametrize(
    ("languages", "source", "target"),
    [
        ("de-fr", "In den {}er Jahren war die Straße breit.", "Dans les années {}, la rue était large."),
        ("de-ja", "In den {}er Jahren war die Straße breit.", "{}年代にはその通りは広かったのです。"),
        ("ru-es", "В {}-х годах улица была широкой.", "En los años {} la calle era ancha."),
        ("sv-fi", "På {}-talet var gatan bred och lång.", "{}-luvulla katu oli leveä ja pitkä."),
        ("ko-pt", "{}년대에는 그 거리가 넓었습니다.", "Na década de {} a rua era muito larga."),
        ("hi-tr", "{} के दशक में सड़क चौड़ी थी।", "{}'lerde cadde çok genişti."),
    ],
)  # fmt: skip
def test_decades_are_equal_with_and_without_their_century(languages, source, target):
    source_language, language = languages.split("-")
    cases = [("1980", "80"), ("80", "1980"), ("1980", "70"), ("1980", "1970")]
    pairs = [(source.format(one), target.format(other)) for one, other in cases]
    found = verdicts(language, pairs, source=source_language)
    assert found == [None, None, "numbers", "numbers"]


@pytest.mark.parametrize(
    ("source", "target", "dropped"),
    [
        ("He lived there from 1990 to 1995.", "Dort lebte er in den Jahren 1990-95.", None),
        ("The 2010/2011 season was good for us.", "Die Saison 2010-11 war gut für uns.", None),
        ("The 1999-2000 season was good for us.", "Die Saison 1999/00 war gut für uns.", None),
        ("He ruled from 1998 to 2003 in the land.", "Er herrschte 1998–03 in dem Land.", None),
        ("It happened on 12/05/99 in the town.", "Es geschah am 12.5.1999 in der Stadt.", None),
        ("It happened on May 12, 2010 there.", "Es geschah dort am 12.05.10 in der Stadt.", None),
        ("In the summer of '99 it was closed.", "Im Sommer 1999 war es geschlossen.", None),
        (
            "It happened on 12/05/98 in the town.",
            "Es geschah am 12.5.1999 in der Stadt.",
            "numbers",
        ),
        (
            "It happened on May 12, 2010 there.",
            "Es geschah dort am 12.05.11 in der Stadt.",
            "numbers",
        ),
        ("He lived there from 1990 to 1996.", "Dort lebte er in den Jahren 1990-95.", "numbers"),
        ("He lived there from 1890 to 1895.", "Dort lebte er in den Jahren 1990-95.", "numbers"),
    ],
)
def test_years_may_be_abbreviated(source, target, dropped):
    assert verdicts("de", [(source, target)]) == [dropped]
    assert verdicts("en", [(target, source)], source="de") == [dropped]


@pytest.mark.parametrize(
    ("source", "target", "dropped"),
    [
        ("It was taken away at about 1200 GMT.", "Es wurde um 12:00 Uhr GMT weggebracht.", None),
        ("It was taken away at about 1200 GMT.", "Es wurde um 12 Uhr GMT weggebracht.", None),
        ("It was taken away at about 1430 GMT.", "Es wurde um 14.30 Uhr GMT weggebracht.", None),
        ("It was taken away at about 1430 GMT.", "Es wurde um 2:30 Uhr nachmittags geholt.", None),
        ("It was tested for 1200 hours in there.", "Dort wurde es 1.200 Stunden geprüft.", None),
        ("It was taken away at about 1100 GMT.", "Es wurde um 13:00 Uhr geholt.", "numbers"),
        ("It was taken away at about 1430 GMT.", "Es wurde um 14:00 Uhr geholt.", "numbers"),
    ],
)
def test_times_in_four_digits(source, target, dropped):
    assert verdicts("de", [(source, target)]) == [dropped]
