"""The pages of all results and of pruning: sentences made from measurements, and the cost of the run."""

import re

import pytest

from tests.report.conftest import size
from weebill.evaluation.measurement import Variant
from weebill.report import rendering
from weebill.report.catalogue import PRUNED_TIMES, pages
from weebill.report.costs import read_jobs
from weebill.report.pages.translation import experiment_page, in_short, pruning_page
from weebill.report.tables.run_time import run_time_table

HEADER = "s\th:m:s\tmax_rss\tmax_vms\n"


@pytest.fixture
def benchmarks(tmp_path):
    (tmp_path / "train_student").mkdir()
    (tmp_path / "train_student/small.tsv").write_text(f"{HEADER}600.0\t0:10:00\t900.4\t1\n")
    (tmp_path / "train_student/other.tsv").write_text(f"{HEADER}300.0\t0:05:00\t800\t1\n")
    (tmp_path / "tables.tsv").write_text(f"{HEADER}0.6\t0:00:00\t-\t-\n")
    return tmp_path


def test_run_time_is_summed_by_rule(benchmarks):
    for name in ("join_distilled", "join_distilled@parallel"):
        (benchmarks / f"{name}.tsv").write_text(f"{HEADER}60.0\t0:01:00\t700\t1\n")
    lines = rendering.to_csv(run_time_table(read_jobs(benchmarks))).splitlines()
    assert lines[1:] == [
        "train_student,2,15.0,10.0,900",
        "join_distilled,2,2.0,1.0,700",
        "tables,1,0.0,0.0,",
        "all rules,5,17.0,10.0,900",
    ]


def test_findings_follow_from_the_measurements(results):
    text = "\n".join(in_short(results))
    assert "Teacher (beam-4): BLEU 40.00 on first, 34.00 on second." in text
    assert "Best student, `small`, greedy: BLEU 39.00 (−1.00) on first" in text
    assert "Best student, `small`, beam-4: BLEU 39.38 (−0.62) on first" in text
    assert "25% of the teacher's by beam-4" in text and "`small/beam-4/float32`" not in text
    assert "10% of the teacher's by beam-4 and 35% of the teacher's by greedy" in text
    assert "`small/pushy-i6/float32`: BLEU 38.50 (−0.50) on first" in text
    assert "36 of 48 encoder heads removed (75%)" in text
    assert "`small/unpruned/log4-finetuned`: BLEU 38.00 (−1.00) on first" in text
    assert "8.0× smaller" in text


def test_a_student_that_lost_every_head_is_told(results):
    name = "small/pushy-i6/float32"
    bare = size(Variant.parse(name), 55.0, (0,) * 6)
    results.sizes = [bare if one.variant == name else one for one in results.sizes]
    assert "48 of 48 encoder heads removed (100%)" in "\n".join(in_short(results))


def test_the_page_holds_every_table_and_signature(results, benchmarks):
    results.config = {
        **results.config,
        "seed": 1,
        "corpora": {"tatoeba": {}},
        "students": ["small", "other", "small~7", "small~8"],
    }
    page = experiment_page(
        results, read_jobs(benchmarks), {"Sizes": "![All sizes](figures/sizes.svg)"}
    )
    headings = re.findall(r"^<summary>(.*)</summary>$", page, re.MULTILINE)
    for number in (1, 2, 3):
        assert sum(f"WNGT20 table {number}" in heading for heading in headings) == 2
    assert sum("WMT21" in heading for heading in headings) == 5  # table 3 has no speeds
    assert "## Sizes\n\n![All sizes](figures/sizes.svg)" in page
    assert "nrefs:1|bs:100|seed:12345" in page
    assert "; students: small, other.\n" in page, "GitHub strikes out what is between two ~"
    assert "Test processor" in page
    assert "torch 2.13.0" in page
    assert "a" * 64 in page


def config_of(results):
    own = {"corpora": {"tatoeba": {}}, "students": ["small"], "training": {"updates": 2000}}
    return {**results.config, "seed": 1, **own}


def test_a_page_begins_with_at_most_eight_lines_and_folds_the_details(pruned_results, benchmarks):
    pruned_results.config = config_of(pruned_results)
    page = pruning_page(pruned_results, read_jobs(benchmarks), {})
    summary = page.split("## In short\n\n")[1].split("\n\n")[0].splitlines()
    assert 3 <= len(summary) <= 8
    # Pushy, lasso and top are compared with the unpruned student; lasso loses 1.0 with an interval of half a point.
    assert summary[0].startswith(
        "- Against the unpruned student: of 3 pruned students 0 are shown to be better and 2 worse"
    )
    assert (
        "for 1 neither is shown; the best is `small/pushy` with −0.50 (−1.00 to +0.00)"
        in summary[0]
    )
    assert "Against a random choice of as many parts: of 1 pruned students 1" in summary[1]
    assert "`small/top`, translates 1.60× as fast" in summary[3]
    before, _, after = page.partition("## Details")
    assert "| **small/unpruned/float32** |" in before and "<details" not in before
    assert after.count("<details") == after.count("</details>") > 5


def test_the_page_holds_both_papers_tables_and_every_figure(pruned_results, benchmarks):
    pruned_results.config = config = config_of(pruned_results)
    pictures = pages({**config, "kind": "translation"}, PRUNED_TIMES)[1].pictures
    links = {heading: f"![Alt](figures/{name}.svg)" for name, heading in pictures.items()}
    page = pruning_page(pruned_results, read_jobs(benchmarks), links)
    for title in ("WNGT20 table 2", "WMT21 table 2"):
        assert sum(line.startswith(f"<summary>{title}") for line in page.splitlines()) == 2
    for heading, shown in links.items():
        assert heading in page and shown in page
    assert "| lasso | group-lasso | groups rowcol |" in page
    assert "Test processor" in page and "seed 1. Corpora" in page
