"""Cells as shown: deltas of shown values, digits, and headings that neighbours share."""

from weebill.report.table import delta, fixed, groups, probability, shortened, three_digits
from weebill.report.tables import overview


def test_deltas_of_shown_numbers():
    assert delta("41.1", "41.5", "difference") == "-0.4"
    assert delta("41.6", "41.5", "difference") == "+0.1"
    assert delta("17", "65", "ratio") == "x0.26"
    assert delta("65", "1536", "ratio") == "x0.042"
    assert delta("2220", "100", "ratio") == "x22.2"
    assert delta("0.0042", "10", "ratio") == "x0.00042"
    assert [delta(x, "10", "ratio") for x in ("0", "0.996", "1")] == ["x0.00", "x0.10", "x0.10"]
    assert delta("", "41.5", "difference") == ""
    assert delta("41.1", "", "ratio") == ""
    assert delta("1", "0", "ratio") == ""
    assert {delta(x, "2.00", how) for x in ("nan", "inf") for how in ("ratio", "difference")} == {
        ""
    }


def test_numbers_as_shown():
    assert [three_digits(x) for x in (0.1234, 0.9999, 1.0, 9.999, 15.69, 99.96, 385.5)] == [
        "0.123", "1.00", "1.00", "10.0", "15.7", "100", "386"
    ]  # fmt: skip
    assert [three_digits(x) for x in (0.0456, 0.00099996, 0.00012, 0.0)] == [
        "0.0456", "0.00100", "0.000120", "0.00"
    ]  # fmt: skip
    assert [shortened(x) for x in (0.4, 0.0, 8.0, 12.34, 999.6, 2461.2)] == [
        "0.4", "0", "8", "12.3", "1000", "2461"
    ]  # fmt: skip
    assert [shortened(x, 2) for x in (4.96, 25.0, 132.7)] == ["5", "25", "133"]
    assert fixed(None, 2) == three_digits(None) == ""
    assert fixed(-0.001, 2) == "0.00"
    assert [*map(probability, (1.0, 0.0405, 0.0005, 0.00049, 1 / 10001))] == [
        "1.000", "0.041", "0.001", "0.0005", "0.0001"
    ]  # fmt: skip
    assert probability(None) == "" and probability(0.0) == "0.000"


def test_neighbouring_columns_share_a_heading(results):
    table = overview.variants_table(results)
    assert [len(columns) for heading, columns in groups(table.columns) if "95 %" in heading] == [
        2,
        2,
    ]
