"""A warning names a filter that drops more than a third of a corpus, and the key that turns it off."""

from weebill.corpus.cleaning.losses import great_losses, losses_of_sample
from weebill.corpus.cleaning.pairs import Context
from weebill.corpus.cleaning.rules import Rules


def test_great_losses():
    assert great_losses({"numbers": 133, "length_ratio": 20, "near_duplicate": 600}, 1000) == []
    [line] = great_losses({"numbers": 134, "near_duplicate": 400, "duplicate": 200}, 1000)
    assert line.startswith("the filter 'numbers' drops 134 of 400 rows (34%)")
    assert great_losses({"length_ratio": 90}, 99) == []
    assert great_losses({"length_ratio": 90, "duplicate": 901}, 1000) == []
    [line] = great_losses({"length_ratio": 334}, 1000)
    assert line.startswith("the filter 'length_ratio' drops 334 of 1,000 rows (33%)")
    assert "`cleaning.rules` has its thresholds, `cleaning.rules.disabled: [length_ratio]`" in line
    [line] = great_losses({"language_target": 900}, 1000)
    assert "`cleaning.language_id` has its settings" in line


def test_text_in_another_script_is_told():
    pairs = [(f"He has {n} of them.", f"Us ke pas {n} hain.") for n in range(120)]
    [line] = losses_of_sample(pairs, ("en", "hi"), Context(Rules()))
    assert "in another script, name it in `languages`, as in sr-Latn" in line
    assert losses_of_sample(pairs, ("en", "hi-Latn"), Context(Rules())) == []


def test_exchanged_sides_are_told():
    pairs = [
        (f"The shop opens at {n} o'clock.", f"가게는 {n}시에 문을 엽니다.") for n in range(120)
    ]
    context = Context(Rules())
    assert losses_of_sample(pairs, ("en", "ko"), context) == []
    assert losses_of_sample(pairs, ("ko", "en"), context) == [
        "120 of 120 would be kept if its sides were exchanged, now 0; exchange its source and target"
    ]
    [line] = losses_of_sample(pairs, ("th", "hi"), context)
    assert line.startswith("the filter 'letter_tokens' drops 120 of 120 rows (100%)")
