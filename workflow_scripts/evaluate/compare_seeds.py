"""Compare a student's variants over several seeds of training (rule compare_seeds).

Read all translations and the test sets, and write mean differences in BLEU with intervals.
"""

from weebill.workflow.job import job

from weebill.evaluation.measurement import Variant
from weebill.evaluation.quality.comparison import compare_over_seeds
from weebill.evaluation.quality.translation_quality import TestSet
from weebill.files import write_json
from weebill.text_files import read_lines


def lines_of(paths):
    """Return the lines of several files, one file after the other."""
    return [line for path in paths for line in read_lines(path)]


with job(snakemake.log[0]):
    params, files = snakemake.params, snakemake.input
    test_sets = list(map(TestSet.read, params.test_sets, files.test_sets))
    rows = [
        compare_over_seeds(
            Variant.parse(by_seed[0][0]),
            Variant.parse(by_seed[0][1]),
            test_sets,
            seeds,
            [lines_of(ours) for _, _, ours, _ in by_seed],
            [lines_of(theirs) for *_, theirs in by_seed],
            bootstrap=params.bootstrap,
            target=params.target,
        )
        for seeds, by_seed in params.comparisons
    ]
    write_json(snakemake.output[0], rows)
