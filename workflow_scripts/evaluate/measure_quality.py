"""Score a variant on every test set (rule measure_quality).

Read the translations of the variant and of its unpruned float32 student, and the test sets. Write BLEU and chrF
with signatures, bootstrap intervals and significance.
"""

from weebill.workflow.job import job

from dataclasses import asdict

from weebill.evaluation.measurement import Variant, model_sha256
from weebill.evaluation.quality.translation_quality import TestSet, measure
from weebill.files import write_json
from weebill.text_files import read_lines

with job(snakemake.log[0]):
    params, files = snakemake.params, snakemake.input
    variant = Variant.parse(params.variant)
    models = [files.model] if isinstance(files.model, str) else list(files.model)
    digest = model_sha256(models)
    rows = []
    for index, name in enumerate(params.test_sets):
        rows += measure(
            variant,
            TestSet.read(name, files.test_sets[index]),
            list(read_lines(files.translations[index])),
            list(read_lines(files.baseline[index])) if files.baseline else None,
            bootstrap=params.bootstrap,
            target=params.target,
            model_sha256=digest,
            seed=params.seed,
        )
    write_json(snakemake.output[0], [asdict(row) for row in rows])
