"""Training tables: normalised scores, a split by sources, and strict reading."""

import gzip

import numpy as np
import pandas as pd
import pytest

from weebill.errors import InputError
from weebill.metric.training_table import judged_segments, read_segments, write_split


@pytest.fixture
def judgements(tmp_path):
    """Write judgements of two language pairs; their scores differ in level and spread."""
    draw = np.random.default_rng(1)
    rows = ["lp\tsystem\tseg_id\tsource\treference\thypothesis\tda"]
    for number in range(400):
        pair, score = ("cs-en", draw.normal(50, 5)) if number % 4 else ("de-en", draw.normal(80, 9))
        system, segment = divmod(number, 200)
        rows.append(f"{pair}\ts{system}\t{segment}\ts {segment}\tr {segment}\th {number}\t{score}")
    (tmp_path / "da.tsv.gz").write_bytes(gzip.compress("\n".join(rows).encode()))
    return tmp_path / "da.tsv.gz"


def test_scores_are_normalised_by_language_pair(judgements):
    plain = judged_segments([(judgements, "da")], "none")
    assert list(plain) == ["src", "mt", "ref", "score"]
    assert plain["mt"].tolist() == [f"h {number}" for number in range(400)]
    first = plain["score"][::4]  # rows of de-en
    found = judged_segments([(judgements, "da")], "language-pair")
    np.testing.assert_allclose(found["score"][::4], (first - first.mean()) / first.std(ddof=0))
    assert found["score"].drop(range(0, 400, 4)).mean() == pytest.approx(0)
    both = judged_segments([(judgements, "da"), (judgements, "da")], "table")
    whole = plain["score"]
    np.testing.assert_allclose(both["score"][:400], (whole - whole.mean()) / whole.std(ddof=0))
    np.testing.assert_array_equal(both["score"][400:], both["score"][:400])


def test_equal_scores_have_no_deviation(judgements):
    with pytest.raises(InputError, match=r"da.tsv.gz: all scores seg_id de-en are equal"):
        text = gzip.decompress(judgements.read_bytes()).decode().splitlines()
        rows = [text[0], *(line for line in text[1:] if line.split("\t")[2] == "4")]
        judgements.write_bytes(gzip.compress("\n".join(rows).encode()))
        judged_segments([(judgements, "seg_id")], "language-pair")


def test_equal_scores_that_no_power_of_two_divides(tmp_path):
    """The deviation of these scores is a rounding error, not exactly 0."""
    rows = ["system\tseg_id\tsource\treference\thypothesis\tda"]
    rows += [f"s\t{number}\ta\tb\tc\t0.1" for number in range(3)]
    assert np.full(3, 0.1).std() > 0
    (tmp_path / "da.tsv").write_text("\n".join(rows) + "\n")
    with pytest.raises(InputError, match=r"da.tsv: all scores da .*are equal"):
        judged_segments([(tmp_path / "da.tsv", "da")], "table")


def test_no_source_is_on_both_sides(judgements, tmp_path):
    table = judged_segments([(judgements, "da")], "none")
    for name, parts in (("one", [table]), ("two", [table[:30], table[30:]])):
        write_split(parts, tmp_path / f"{name}.train", tmp_path / f"{name}.validation", 0.2)
    train, validation = (
        read_segments(tmp_path / f"two.{name}", references=True) for name in ("train", "validation")
    )
    assert not set(train["src"]) & set(validation["src"])
    assert sorted([*train["mt"], *validation["mt"]]) == sorted(table["mt"])
    assert 20 < validation["src"].nunique() < 60  # 40 of 200 on average
    assert (tmp_path / "one.train").read_bytes() != (tmp_path / "one.validation").read_bytes()
    pd.testing.assert_frame_equal(train, read_segments(tmp_path / "one.train", references=True))
    with pytest.raises(InputError, match=r"empty.train: would be empty"):
        write_split([table], tmp_path / "empty.train", tmp_path / "empty.validation", 1.0)
    assert not (tmp_path / "empty.train").exists()


def test_text_tables(tmp_path):
    (tmp_path / "a.csv").write_text('system,src,mt,ref,score\nx,"a, b",NA,,0.5\nx,c,d,e,-1e-3\n')
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(b'src\tmt\tscore\na, b\t"NA\t0.5\n'))
    found = read_segments(tmp_path / "a.csv", references=True)
    assert found.to_dict("list") == {
        "src": ["a, b", "c"],
        "mt": ["NA", "d"],
        "ref": ["", "e"],
        "score": [0.5, -1e-3],
    }
    found = read_segments(tmp_path / "a.tsv.gz", references=False)
    assert found.to_dict("records") == [{"src": "a, b", "mt": '"NA', "score": 0.5}]


def test_tables_that_are_wrong(tmp_path):
    def refused(name, match, content=None, references=True):
        if content is not None:
            (tmp_path / name).write_text(content)
        with pytest.raises(InputError, match=match):
            read_segments(tmp_path / name, references)

    refused("none.csv", "none.csv: no such table")
    refused("none.parquet", "none.parquet: no such table")
    refused("a.tsv", "no column 'ref'", "src\tmt\tscore\na\tb\t1\n")
    refused(
        "b.csv",
        r"b.csv: row 2: .* score 'good' is no number",
        "src,mt,ref,score\na,b,c,1\na,b,c,good\n",
    )
    refused("c.csv", "row 1: .* score 'inf' is no number", "src,mt,ref,score\na,b,c,inf\n")
    refused("d.csv", "no segments", "src,mt,ref,score\n")
    refused("h.csv", r"no table of CSV \(Length of header", "src,mt,ref,score\na,b,c,0.5,1\n")
    refused(
        "e.csv", r"no table of CSV \(.*Expected 4 fields", "src,mt,ref,score\na,b,c,1\na,b,c,1,2\n"
    )
    pd.DataFrame({"src": ["a", None], "mt": ["b", "b"], "score": [0.1, 0.2]}).to_parquet(
        tmp_path / "f.parquet"
    )
    refused("f.parquet", "row 2: a text is missing", references=False)
    refused("f.parquet", "no column 'ref'")
    refused(
        "g.csv",
        "g.csv: compares with references, and the table has none",
        "src,mt,ref,score\na,b,,1\n",
    )
