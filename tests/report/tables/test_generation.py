"""Tables of the variants of generators: comparisons with each model's first variant."""

from dataclasses import replace

import pytest

from tests.report.generation_results import WHOLE, cells, generation_results, piped
from weebill.report.lookups.generation import variants_for
from weebill.report.pages.generation import in_short
from weebill.report.tables.generation import PIECES, variants_table


@pytest.fixture(scope="module")
def results():
    return generation_results()


def test_variants_are_compared_with_their_models_first(results):
    table = variants_table(results, "summarization")
    assert [row.cells[0].text for row in table.rows] == variants_for(
        results.config, "summarization"
    )
    assert [row.kind for row in table.rows].count("baseline") == 1
    row = cells(table, WHOLE)  # fifth
    assert row["rouge_l"] == ("0.100", "x0.20") and row["rouge_l_low"] == ("0.090", "")
    assert row["mib"] == ("1.60", "x0.20") and row["seconds"] == ("0.180", "x0.20")
    assert row["peak_mib"] == ("50.0", "x1.00")
    lead = replace(results.qualities[0], variant="bart: lead", signature="lead:64")
    led = variants_table(replace(results, leads=[lead]), "summarization")
    assert led.rows[0].cells[0].text == "bart: lead" and led.rows[1:] == table.rows
    assert cells(led, "bart: lead")["mib"] == ("", "")
    assert led.notes[0].startswith("`lead`: what the articles begin with")
    assert any(note.startswith("`lead:64`") for note in led.notes)
    text = variants_table(results, "language-modelling")
    base = text.rows[0].cells[0].text
    assert cells(text, base)["perplexity"][1] == ""
    assert any("900 tokens" in note for note in text.notes)


def test_every_text_that_was_scored_is_named(results):
    """Two summarizers may have texts of their own, with one signature."""
    first, *others = results.qualities
    other = replace(first, data="other", examples=7, test_set_sha256="c" * 64)
    notes = variants_table(replace(results, qualities=[other, *others]), "summarization").notes
    told = [note for note in notes if note.startswith(f"`{first.signature}`")]
    assert told == [
        f"`{first.signature}`: 7 summaries of other, SHA-256 {'c' * 16}.",
        f"`{first.signature}`: 20 summaries of text, SHA-256 {'a' * 16}.",
    ]


def test_times_of_a_gpu_are_beside_those_of_a_core(results):
    gpu = [
        replace(one, seconds_per_example=one.seconds_per_example / 9, hardware="a card",
                device="cuda", precision="bfloat16")
        for one in results.speeds
        if one.variant != WHOLE  # as an int8 variant
    ]  # fmt: skip
    table = variants_table(results, "summarization")
    both = variants_table(replace(results, speeds=[*results.speeds, *gpu]), "summarization")
    base, *_ = variants_for(results.config, "summarization")
    assert cells(both, base)["seconds"] == cells(table, base)["seconds"] == ("0.900", "")
    assert cells(both, base)["gpu_seconds"] == ("0.100", "")
    assert cells(both, WHOLE)["gpu_seconds"][0] == "" and "gpu_seconds" not in cells(table, base)
    assert any("in bfloat16, on a card" in note for note in both.notes)
    assert both.notes[:-1] == table.notes


def test_perplexity_is_not_compared_across_vocabularies(results):
    found = piped(
        results,
        "small/fine-tuned/distilled-shortly",
        "small/fine-tuned/used-pieces",
        "large/used-pieces/fine-tuned",
        "bart/fine-tuned/used-pieces",
    )
    table = variants_table(found, "language-modelling")
    for variant, delta in {
        "small/fine-tuned/distilled-shortly": "x1.00",
        "small/fine-tuned/used-pieces": "",
        "large/used-pieces/fine-tuned": "x1.00",  # like its model's first variant
    }.items():
        row = cells(table, variant)
        assert row["perplexity"][1] == delta and row["bits_per_byte"][1] == "x1.00"
        told = "perplexity" if delta else "bits per byte"
        assert any(line.startswith(f"`{variant}`: {told} 1.000 ×") for line in in_short(found))
    assert PIECES in table.notes
    assert PIECES not in variants_table(found, "summarization").notes
    same = variants_table(piped(results, "large/used-pieces/fine-tuned"), "language-modelling")
    assert PIECES not in same.notes
