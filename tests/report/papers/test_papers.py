"""The papers' tables are loaded as printed."""

import pytest

from weebill.errors import InputError
from weebill.report import papers


def test_every_table_loads_with_a_full_rectangle_of_text():
    numbered = [f"{paper}_table{n}" for paper in ("wmt2021", "wngt2020") for n in (1, 2, 3, 4)]
    cometinho = ("cometinho_claims", "cometinho_table1", "cometinho_table2")
    assert {"claims", *cometinho, "textgen_tables", *numbered} <= {*papers.names()}
    for name in papers.names():
        table = papers.load(name)
        assert len(table) > 0
        assert not table.isna().any().any(), name


def test_cells_keep_their_printed_precision():
    table = papers.load_table("wmt21", 2)
    assert table["sparsity_att"][0] == "0.00"
    assert (
        papers.load("wngt2020_table3")
        .set_index(["model", "precision"])
        .loc[("base", "float32"), "xz_size_mb"]
        == "135.0"
    )


def test_a_cell_the_paper_lacks_is_empty():
    table = papers.load("wngt2020_table3").set_index(["model", "precision"])
    cell = table.loc[("base", "log-4bit"), "wps_1core"]
    assert cell == ""


def test_an_unknown_table_is_named_with_the_nearest():
    with pytest.raises(InputError, match="did you mean 'wngt2020_table1'"):
        papers.load("wngt2020_table1x")
