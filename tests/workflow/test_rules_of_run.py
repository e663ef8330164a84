"""Number of jobs by rule, read from Snakemake's output."""

import pytest

from tests.workflow.running import REPOSITORY
from weebill.errors import InputError
from weebill.workflow.rules_of_run import jobs_by_rule, read_table

SAID = """
Building DAG of jobs...
Job stats:
job              count
-------------  -------
all                  1
train_student        6
figures              1
total                8

[Fri Nov 27 12:30:30 2026]
rule figures:
    jobid: 3
Job stats:
job              count
-------------  -------
train_student        6
other                9
total               15
"""


def test_the_first_table_counts():
    assert read_table(SAID.splitlines()) == {"train_student": 6, "figures": 1}
    assert read_table(["Nothing to be done."]) == {}


@pytest.mark.workflows
def test_a_run_that_does_not_begin_is_an_error_with_its_words(tmp_path):
    config = tmp_path / "x.yaml"
    config.write_text("kind: generation\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"x\.yaml: a dry run fails:\n[\s\S]*experiment: missing"):
        jobs_by_rule(config, REPOSITORY / "Snakefile")
