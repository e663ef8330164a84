"""Tables of judgements: rows, names of people, and published numbers."""

import gzip
import hashlib
import math

import pytest

from weebill.errors import InputError
from weebill.metric.judgements import (
    averaged,
    is_held_out,
    is_machine,
    read_judgements,
    require_references,
)

HEAD = "system\tseg_id\tlp\tsource\treference\thypothesis\tmqm"
PEOPLE = ["ref-A", "ref-D", "refA", "REF_B", "ref", "Human-A.0", "Human-B.0", "Human-P.0"]
SYSTEMS = [
    "Refinement-NMT",
    "Humanoid",
    "ref-NMT",
    "ref.NMT",
    "Reference-free",
    "Online-A.0",
    "Facebook-AI",
    "Human-like-MT",
]


@pytest.mark.parametrize("system", [*PEOPLE, "HUMAN", "human.c", "metricsystem3"])
def test_people_are_no_systems(system):
    """Names of people are those of WMT 2019 to 2022."""
    assert not is_machine(system)


@pytest.mark.parametrize("system", SYSTEMS)
def test_systems_that_sound_like_people(system):
    assert is_machine(system)


def test_tables_of_windows(tmp_path):
    """A byte-order mark and CRLF belong to no cell, also in compressed files."""
    text = f"{HEAD}\r\nref-A\t1\ten-de\ts\tr\th\t-1\r\n"
    path = tmp_path / "judged.tsv.gz"
    path.write_bytes(gzip.compress(text.encode("utf-8-sig")))
    found = read_judgements(path, "mqm", by_system=True)
    assert found["system"].tolist() == ["ref-A"] and found["score"].tolist() == [-1]
    last = text.replace("system\t", "").replace("ref-A\t", "").replace("\tmqm", "\tmqm\tsystem")
    path.write_bytes(gzip.compress(last.replace("-1\r", "-1\tref-A\r").encode()))
    assert read_judgements(path, "mqm", by_system=True)["system"].tolist() == ["ref-A"]


@pytest.mark.parametrize("name", ["mqm", "lp", "hypothesis"])
def test_two_columns_of_one_name_are_refused(tmp_path, name):
    path = tmp_path / "judged.tsv"
    path.write_text(f"{HEAD}\t{name}\nA\t1\ten-de\ts\tr\th\t-1\t5\n")
    with pytest.raises(InputError, match=f"2 columns '{name}'; rename all but one"):
        read_judgements(path, "mqm")


def test_direct_assessments_are_read(real_text):
    judged = read_judgements(real_text("da/da_wmt17_to-en.tsv"), "da_z")
    assert len(judged) == 3920
    assert len({segment.split()[0] for segment in judged["segment"]}) == 7


def test_scores_of_several_assessors_are_averaged(tmp_path):
    """Judgements of other texts with the same number, or of other systems, stay; single scores keep their bits."""
    path = tmp_path / "judged.tsv"
    rows = ("A\t1\ts\tr\th\t3", "B\t1\ts\tr\th\t-0.0", "A\t1\ts\tr\th\t-1", "A\t1\ts\tr\tg\t5")
    path.write_text("\n".join(["system\tseg_id\tsource\treference\thypothesis\tmqm", *rows]) + "\n")
    found = averaged(read_judgements(path, "mqm"))
    assert found[["system", "mt", "score"]].values.tolist() == [
        ["A", "h", 1.0],
        ["B", "h", 0.0],
        ["A", "g", 5.0],
    ]
    alone = averaged(read_judgements(path, "mqm").iloc[1:2])
    assert math.copysign(1, alone["score"].item()) == -1


def test_the_held_out_share_is_that_of_a_hash():
    sources = [f"source {number}" for number in range(500)]
    for share in (0.0, 0.05, 0.5, 1.0):
        digests = [hashlib.sha256(source.encode()).digest()[:6] for source in sources]
        wanted = [int.from_bytes(digest, "big") / 2**48 < share for digest in digests]
        assert [is_held_out(source, share) for source in sources] == wanted


def test_a_metric_with_references_needs_them():
    require_references(["", "a"], "K")
    for references in ([], ["", " "]):
        with pytest.raises(InputError, match="K: compares with references, and the table has none"):
            require_references(references, "K")


def test_tables_that_are_wrong(tmp_path):
    path = tmp_path / "judged.tsv"
    heading = "system\tseg_id\tsource\treference\thypothesis\tmqm\n"
    for text, match in (
        (heading.replace("mqm", "mpm"), "no column 'mqm'; did you mean 'mpm'"),
        (heading, "no judgements"),
        (heading + "A\t1\ts\tr\th\t0\nA\t2\ts\th\t-1\n", ":3: 5 columns, expected 6"),
        (heading + "A\t1\ts\tr\th\tgood\n", ":2: mqm is 'good', no number"),
        (heading + "A\t1\ts\tr\th\tnan\n", ":2: mqm is 'nan', no number"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=match):
            read_judgements(path, "mqm")
    path.write_text(heading.replace("system", "sytem"))
    with pytest.raises(InputError, match=r"no column 'system', .*; did you mean 'sytem'"):
        read_judgements(path, "mqm", by_system=True)
