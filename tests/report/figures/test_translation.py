"""The Pareto front, and the figure of all variants."""

from weebill.report.figures import translation as figures


def test_the_front_is_what_nothing_beats():
    points = [(1, 10), (2, 9), (2, 8), (3, 9), (4, 1), (4, 1), (0, 10)]
    assert figures.pareto(points) == [True, False, False, True, True, True, False]


def test_the_front_shows_every_variant_that_was_timed(results):
    spec = figures.front(results).to_dict()
    rows = [row for data in spec["datasets"].values() for row in data]
    assert {row["variant"] for row in rows} == {size.variant for size in results.sizes}
