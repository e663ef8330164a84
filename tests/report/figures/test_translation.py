"""Figures: the Pareto front, and files that are complete and equal when drawn twice."""

import re

import pytest

from weebill.report.figures import drawing
from weebill.report.figures import pruning as pruning_figures
from weebill.report.figures import translation as figures


def test_the_front_is_what_nothing_beats():
    points = [(1, 10), (2, 9), (2, 8), (3, 9), (4, 1), (4, 1), (0, 10)]
    assert figures.pareto(points) == [True, False, False, True, True, True, False]


DRAW = (
    figures.front,
    figures.sizes,
    figures.heads,
    pruning_figures.quality_by_heads,
    pruning_figures.quality_by_neurons,
    pruning_figures.quality_by_speed,
)


@pytest.mark.parametrize("draw", DRAW, ids=lambda d: d.__name__)
def test_figures_need_no_network_and_are_reproducible(pruned_results, tmp_path, draw):
    for folder in ("one", "two"):
        drawing.save(draw(pruned_results), tmp_path / folder, "figure")
    for form in drawing.FORMATS:
        first, second = (tmp_path / folder / f"figure.{form}" for folder in ("one", "two"))
        assert first.read_bytes() == second.read_bytes(), form
    page = (tmp_path / "one/figure.html").read_text(encoding="utf-8")
    assert not re.search(
        r"""<(script|link|img|iframe)[^>]*(src|href)\s*=\s*["']?(https?:)?//""", page
    )
    assert "small" in page
    assert (tmp_path / "one/figure.png").read_bytes().startswith(b"\x89PNG")


def test_the_front_shows_every_variant_that_was_timed(results):
    spec = figures.front(results).to_dict()
    rows = [row for data in spec["datasets"].values() for row in data]
    assert {row["variant"] for row in rows} == {size.variant for size in results.sizes}
