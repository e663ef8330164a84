"""Compare the students of all stages of cleaning (rule cleaning_students).

Read their training pairs, their translations and the test sets, and write a table of BLEU with intervals.
"""

from weebill.workflow.job import job

from weebill.corpus.table import count_rows, read_columns
from weebill.evaluation.measurement import Variant
from weebill.evaluation.quality.comparison import compare
from weebill.evaluation.quality.translation_quality import TestSet
from weebill.report.rendering import write_table
from weebill.report.tables.cleaning_students import StageResult, cleaning_students_table
from weebill.text_files import read_lines

with job(snakemake.log[0]):
    params, files = snakemake.params, snakemake.input
    test_sets = list(map(TestSet.read, params.test_sets, files.test_sets))
    lines = [list(read_lines(path)) for path in files.translations]
    by_stage = [lines[i : i + len(test_sets)] for i in range(0, len(lines), len(test_sets))]
    variants = [Variant(params.student, stage, "float32") for stage in params.stages]

    def against_none(number, sets):
        """Compare a stage's student with the first stage's student on the numbered test sets."""
        chosen = [[line for one in sets for line in by_stage[stage][one]] for stage in (number, 0)]
        return compare(
            variants[number],
            variants[0],
            [test_sets[one] for one in sets],
            *chosen,
            bootstrap=params.bootstrap,
            target=params.target,
        )

    every = range(len(test_sets))
    results = []
    for number, (stage, pairs) in enumerate(zip(params.stages, files.pairs, strict=True)):
        noise = read_columns(pairs, ["noise"])["noise"]
        damaged = len(noise) - noise.null_count if params.damaged else None
        single = [against_none(number, [one]) for one in every]
        together = against_none(number, every)
        results.append(StageResult(stage, count_rows(pairs), damaged, single, together))
    write_table(cleaning_students_table(params.student, results), params.folder)
