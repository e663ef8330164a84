"""The page of a generation experiment with invented measurements."""

from dataclasses import replace

from tests.report.generation_results import WHOLE, generation_results
from weebill.report.front.generation import below_lead
from weebill.report.pages.generation import generation_page, in_short, tables_of
from weebill.report.pages.page import whole_page
from weebill.report.rendering import to_markdown


def test_the_page_has_all_of_it():
    results = generation_results()
    assert len(tables_of(results)) == 12
    page = generation_page(results, [], {"Figure": "![A picture](figures/x.svg)"})
    for table in tables_of(results):
        assert to_markdown(table) in page
    assert "## Figure\n\n![A picture](figures/x.svg)" in page
    line = next(line for line in in_short(results) if line.startswith(f"`{WHOLE}`"))
    assert "ROUGE-L 0.200 ×" in line and "0.200 × its bytes" in line and "5.00 × as fast" in line


def test_models_below_the_beginnings_of_the_articles_are_told():
    results = generation_results()
    best = max(
        (one for one in results.qualities if one.metric == "ROUGE-L"), key=lambda one: one.score
    )
    for change, told in ((0.01, 1), (-0.01, 0)):
        results.leads = [replace(best, variant="lead-3", score=best.score + change)]
        found = below_lead(results)
        assert len(found) == told and all(f"`{best.variant}`" in line for line in found)
    results.leads = []
    assert below_lead(results) == []


def test_no_heading_is_shown_without_content():
    """An experiment of one variant compares nothing."""
    page = whole_page("# Title", "- A sentence.", [], [("Every variant", ""), ("More", "Text.")])
    assert "<summary>More</summary>" in page and "Every variant" not in page
