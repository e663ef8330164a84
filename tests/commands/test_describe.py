"""`weebill describe` builds the papers' models and gives the papers' parameter counts."""

import csv
import json
from pathlib import Path

import pytest

from weebill.__main__ import main
from weebill.commands.describe import describe
from weebill.configuration.zoo_file import load_zoo
from weebill.errors import InputError

PAPERS = Path(__file__).parents[2] / "weebill" / "report" / "papers"
TABLES = ("wngt2020_table1.csv", "wmt2021_table1.csv")
EXCEPTIONS = {"micro.8k": 6.1, "teacher_x3": 661.1}  # printed inconsistently


def printed() -> dict[str, dict[str, str]]:
    rows = {}
    for table in TABLES:
        with (PAPERS / table).open(encoding="utf-8", newline="") as file:
            rows |= {row["model"]: row for row in csv.DictReader(file)}
    return rows


def run(capsys, *arguments: str):
    assert main(["describe", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_all_equal_the_printed_parameters(capsys):
    described = {row["name"]: row for row in run(capsys, "--all")}
    papers = printed()
    assert set(papers) <= set(described)
    for name, row in papers.items():
        millions = round(described[name]["parameters"] / 1e6, 1)
        assert described[name]["paper_parameters_m"] == float(row["params_m"])
        if name in EXCEPTIONS:
            assert millions == EXCEPTIONS[name] != float(row["params_m"])
            assert "does not follow" in described[name]["note"]
        else:
            assert millions == float(row["params_m"]), name
            assert "note" not in described[name]


def test_a_source_vocabulary_adds_its_embeddings(capsys):
    ((one,), (two,)) = run(capsys, "tiny"), run(capsys, "tiny", "--source-vocabulary", "500")
    assert two["parameters"] - one["parameters"] == 500 * 256
    assert main(["describe", "tiny", "--source-vocabulary", "500"]) == 0
    assert "500/32000" in capsys.readouterr().out


def test_shapes_equal_the_printed_shapes():
    columns = {
        "emb": "embedding",
        "ffn": "feed_forward",
        "enc_depth": "encoder_layers",
        "dec_depth": "decoder_layers",
        "dec_tied": "decoder_tied",
        "vocab": "vocabulary",
        "att": "attention_width",
        "heads": "heads",
    }
    zoo = load_zoo()
    for name, row in printed().items():
        for column, key in columns.items():
            if column in row:
                value = zoo[name][key]
                text = "/".join(map(str, value)) if isinstance(value, list) else str(value).lower()
                assert text == row[column], (name, column)


def test_sizes_are_mib_of_float32(capsys):
    (base,) = run(capsys, "base")
    assert base["float32_mib"] == pytest.approx(base["parameters"] * 4 / 2**20, abs=1e-3)
    assert round(base["float32_mib"]) == 149  # WNGT20, table 1


@pytest.mark.parametrize(("removed", "millions"), [(36, 14.5), (42, 14.3)])
def test_removed_heads(capsys, removed, millions):
    """The counts equal those of WNGT20, table 2."""
    (row,) = run(capsys, "tiny", "--heads-removed", str(removed))
    assert row["encoder_heads"] == 48 - removed
    assert round(row["parameters"] / 1e6, 1) == millions


def test_more_heads_than_there_are():
    with pytest.raises(InputError, match="found 49, expected 0 to 48"):
        describe("tiny", load_zoo()["tiny"], heads_removed=49)


def test_an_entry_that_its_paper_does_not_print():
    with pytest.raises(
        InputError, match=r"tinny\.paper: wngt20 prints no such row; did you mean 'tiny'"
    ):
        describe("tinny", load_zoo()["tiny"])


def test_an_ensemble_is_the_sum_of_its_models(capsys):
    zoo = load_zoo()
    depths = zoo["teacher_x3"]["decoder_layers"]
    parts = [
        describe("teacher_x3", {**zoo["teacher_x3"], "decoder_layers": depth}) for depth in depths
    ]
    (whole,) = run(capsys, "teacher_x3")
    assert whole["parameters"] == sum(part["parameters"] for part in parts)


def test_vocabulary_where_the_entry_names_none(capsys):
    small, large = (run(capsys, "demo.tiny", "--vocabulary", n)[0] for n in ("100", "200"))
    assert large["parameters"] - small["parameters"] == 100 * (small["embedding"] + 1)
    (paper,) = run(capsys, "tiny.8k", "--vocabulary", "100")
    assert paper["vocabulary"] == 8000


def test_text(capsys):
    assert main(["describe", "tiny", "micro.8k"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["model", "tiny", "micro.8k", "*"]
    assert "15,722,752" in lines[1]
    assert lines[1].endswith("15.7 M")
    assert lines[3].startswith("* micro.8k: the printed 7.0 M does not follow")


def test_every_unknown_name_is_told(capsys):
    assert main(["describe", "tinny", "base", "mikro.8k"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "weebill: describe: no model 'tinny' in config/models.yaml; did you mean 'tiny'?",
        "describe: no model 'mikro.8k' in config/models.yaml; did you mean 'micro.8k'?",
    ]


@pytest.mark.parametrize("pieces", ["0", "-5", "many"])
def test_no_pieces(capsys, pieces):
    with pytest.raises(SystemExit) as stop:
        main(["describe", "demo.tiny", f"--vocabulary={pieces}"])
    assert stop.value.code == 2
    message = f"--vocabulary: found '{pieces}', expected a whole number of at least 1"
    assert message in capsys.readouterr().err


def test_no_name(capsys):
    assert main(["describe"]) == 1
    assert "give --all" in capsys.readouterr().err
