"""Compare variants with their baselines (rules compare_pruned, compare_steps and compare_training_texts).

Read all translations and the test sets, and write differences in BLEU with intervals and significance.
"""

from weebill.workflow.job import job

from weebill.evaluation.measurement import Variant
from weebill.evaluation.quality.comparison import compare
from weebill.evaluation.quality.translation_quality import TestSet
from weebill.files import write_json
from weebill.text_files import read_lines

with job(snakemake.log[0]):
    params, files = snakemake.params, snakemake.input
    test_sets = list(map(TestSet.read, params.test_sets, files.test_sets))
    rows = [
        compare(
            Variant.parse(variant),
            Variant.parse(baseline),
            test_sets,
            *([line for path in paths for line in read_lines(path)] for paths in translations),
            bootstrap=params.bootstrap,
            target=params.target,
        )
        for variant, baseline, *translations in params.pairs
    ]
    write_json(snakemake.output[0], rows)
