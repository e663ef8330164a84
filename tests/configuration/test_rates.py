"""Rates of hardware: measured rates of GPUs by size, batch and beam; otherwise, assumed rates."""

import pytest

from tests.configuration.test_estimates import of_paper
from weebill.configuration import rates
from weebill.configuration.rates import Rates, between
from weebill.files import write_json

GPU = {"accelerator": "gpu", "devices": 1, "threads": 8}
# Ten times the weights give ten times the rate; a batch four times as large gives twice the rate.
MADE_UP = {
    "card": "A card",
    "date": "2026-11-27",
    "commit": "0" * 40,
    "float32": 0.5,
    "training": [
        {"weights": 1e7, "positions": 10_000, "operations": 1e13},
        {"weights": 1e7, "positions": 40_000, "operations": 2e13},
        {"weights": 1e8, "positions": 10_000, "operations": 1e14},
        {"weights": 1e8, "positions": 40_000, "operations": 2e14},
    ],
    "decoding": [
        {"weights": 1e7, "beam": 1, "operations": 3e13},
        {"weights": 1e7, "beam": 1, "operations": 4e13},
        {"weights": 1e8, "beam": 6, "operations": 8e13},
    ],
}


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """Install the invented measurements."""
    file = tmp_path / "gpu_rates.json"
    write_json(file, MADE_UP)
    monkeypatch.setattr(rates, "MEASURED", file)
    rates._measured.cache_clear()
    yield
    rates._measured.cache_clear()


@pytest.fixture
def unmeasured(tmp_path, monkeypatch):
    monkeypatch.setattr(rates, "MEASURED", tmp_path / "none.json")
    rates._measured.cache_clear()
    yield
    rates._measured.cache_clear()


@pytest.mark.parametrize(
    ("weights", "positions", "expected"),
    [
        (1e7, 10_000, 1e13),
        (1e8, 40_000, 2e14),
        (10**7.5, 10_000, 10**13.5),  # the logarithmic middle
        (1e7, 20_000, 2**0.5 * 1e13),
        (1e7, 5_000, 5e12),  # an update takes as long as one of 10,000 positions
        (1e6, 10_000, 1e12),  # a pair takes as long as in the smallest network
        (1e9, 90_000, 2e14),
    ],
)
def test_training_by_size_and_batch(measured, weights, positions, expected):
    found = Rates.of(GPU)
    assert found.training("bfloat16", weights, positions) == pytest.approx(expected)
    assert found.training("auto", weights, positions) == pytest.approx(expected)
    assert found.training("float32", weights, positions) == pytest.approx(expected / 2)
    assert found.least == 0


def test_search_by_size_and_beam(measured):
    found = Rates.of(GPU)
    assert found.search(1e7) == found.search(1e9, 1) == 4e13  # fastest batch
    assert found.search(1e7, 4) == pytest.approx(8e12)  # near 6; a tenth of the weights
    assert found.search(2e8, 8) == 8e13


def test_a_rate_between_two_others():
    assert between([(4.0, 16.0), (1.0, 1.0)], 2.0) == pytest.approx(4.0)


def test_the_papers_take_hours_of_the_measured_card(measured):
    """The estimate says where its rates come from."""
    found = of_paper("wngt20.yaml")
    [line] = [line for line in found.lines("results/a", 0) if "rates of" in line]
    assert "rates of one A card, measured on 2026-11-27 by `weebill benchmark gpu`" in line
    assert "assumed" not in line


def test_beams_that_were_not_measured_are_told(measured):
    greedy = [{**row, "beam": 1} for row in MADE_UP["decoding"]]
    write_json(rates.MEASURED, {**MADE_UP, "decoding": greedy})
    assert "greedy search, which beams are assumed to reach too" in Rates.of(GPU).told()


def test_without_figures_the_rates_are_assumed(unmeasured):
    found = Rates.of(GPU)
    assert found.training("bfloat16", 1e7, 10) == found.training("float16", 1e9, 1e6) == 5e13
    assert found.training("auto", 1e7, 10) == 5e13
    assert (found.search(1e7), found.least) == (1e13, 0.05)
    assert found.told().startswith("assumed rates of a GPU")


def test_threads_of_a_cpu():
    found = Rates.of({"accelerator": "cpu", "threads": 3})
    assert found.training("float32", 1, 1) == found.training("auto", 1, 1) == 1.5e11
    assert found.search(1, 8) == 1.8e11 and found.least == 0


def test_a_cpu_without_products_of_bfloat16_trains_in_float32(monkeypatch):
    monkeypatch.setattr(rates.engines, "available", lambda: ["some"])
    for has, rate, told in (
        (True, 1e11, "50 in float32 and 100 in bfloat16"),
        (False, 5e10, "50 in float32, which also trainings in bfloat16 take on this processor"),
    ):
        monkeypatch.setattr(rates.engines, "has_bfloat16", lambda isa, has=has: has)
        found = Rates.of({"accelerator": "cpu", "threads": 1})
        assert found.training("bfloat16", 1, 1) == rate and told in found.told()


@pytest.mark.parametrize(("name", "hours"), [("wngt20.yaml", 7773), ("wmt21.yaml", 8760)])
def test_the_assumed_estimates_of_the_papers_stay(unmeasured, name, hours):
    """Assumed rates need no measurements.  Trainings with precision auto use bfloat16 on GPUs: hours may be fewer."""
    assert 0.5 * hours < sum(of_paper(name).hours.values()) < 1.01 * hours


@pytest.mark.skipif(not rates.MEASURED.is_file(), reason="no card was measured yet")
@pytest.mark.parametrize(("name", "hours"), [("wngt20.yaml", 7773), ("wmt21.yaml", 8760)])
def test_the_papers_take_a_quarter_of_the_assumed_hours(name, hours):
    rates._measured.cache_clear()
    assert sum(of_paper(name).hours.values()) <= hours / 4
