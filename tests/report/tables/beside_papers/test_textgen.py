"""TEXTGEN's tables: the paper's numbers and misprints, and our values for the same steps."""

import pytest

from tests.report.generation_results import WHOLE, cells, generation_results, piped
from weebill.report.tables.beside_papers.textgen import TABLES


@pytest.fixture(scope="module")
def results():
    return generation_results()


def paper_table(results, number):
    return TABLES[number - 1].build(results)


@pytest.mark.parametrize(
    ("small", "large", "chosen"),
    [
        (
            "fine-tuned",
            "fine-tuned/distilled-shortly",
            ["large/fine-tuned", "large/fine-tuned/distilled-shortly"],
        ),
        (
            "fine-tuned/distilled-shortly",
            "fine-tuned/distilled-shortly",
            ["small/fine-tuned", "small/fine-tuned/distilled-shortly"],
        ),
        ("distilled-shortly", "fine-tuned", ["large/fine-tuned", ""]),
    ],
)
def test_a_papers_table_is_beside_one_model(results, small, large, chosen):
    table = paper_table(piped(results, f"small/{small}", f"large/{large}"), 2)
    assert [row.cells[1].text for row in table.rows] == chosen


@pytest.mark.parametrize(
    ("number", "row", "ours"),
    [
        (1, "student", "bart/fine-tuned/distilled"),
        (3, "pruned", "bart/fine-tuned/pruned"),
        (5, "quantized", "bart/fine-tuned/trained-int8/int8"),
        (6, "quantized", WHOLE),
        (7, "pruned", "gpt2/fine-tuned/distilled-shortly/pruned-shortly"),
    ],
)
def test_ours_stand_where_the_same_steps_were_taken(results, number, row, ours):
    table = paper_table(results, number)
    found = cells(table, row)
    assert found["ours"] == (ours, "")
    first = cells(table, table.rows[0].cells[0].text)
    assert first["ours"][0].count("/") == 1
    size = next(one for one in results.sizes if one.variant == ours)
    shown = float(found["size_gb_ours"][0])
    assert shown == pytest.approx(size.parameter_bytes / 2**30, rel=0.005), (
        "three digits, however small"
    )


def test_the_papers_own_numbers_and_slips(results):
    table = paper_table(results, 7)
    found = cells(table, "quantized")
    assert found["perplexity"] == ("65.66", "x3.60")
    assert cells(table, "distilled")["perplexity"] == ("31.98", "x1.75")
    assert any("47.41 more" in note for note in table.notes)
    assert any("0.559" in note and "0.599" in note for note in paper_table(results, 6).notes)
    assert cells(paper_table(results, 6), "quantized")["size_gb"] == ("0.34", "x0.23")
