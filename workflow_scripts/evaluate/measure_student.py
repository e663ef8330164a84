"""Measure quality and size of all variants of a student or of the teacher (rule measure_student).

Read the test sets, and models and translations of the variants. Write BLEU and chrF with signatures, bootstrap
intervals and significance, and each variant's shape and exact size in bytes.
"""

from weebill.workflow.job import job

from weebill.evaluation.measurement import Variant
from weebill.evaluation.quality.translation_quality import TestSet, measure
from weebill.evaluation.size.translation_size import measure_size
from weebill.files import write_json
from weebill.text_files import read_lines

with job(snakemake.log[0]):
    params, output = snakemake.params, snakemake.output
    variants = {Variant.parse(name): files for name, files in params.variants.items()}
    sizes = [measure_size(variant, models) for variant, (models, _) in variants.items()]
    digests = {size.variant: size.model_sha256 for size in sizes}
    rows = []
    for index, path in enumerate(snakemake.input.test_sets):
        rows += measure(
            {variant: list(read_lines(files[index])) for variant, (_, files) in variants.items()},
            TestSet.read(params.test_sets[index], path),
            digests,
            bootstrap=params.bootstrap,
            target=params.target,
            seed=params.seed,
        )
    write_json(output.quality, rows)
    write_json(output.size, sizes)
