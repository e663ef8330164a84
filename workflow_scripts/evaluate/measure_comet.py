"""Score the translations of all variants with a COMET model (rule measure_comet).

A file keeps sentence vectors between runs, so only the translations of new variants are encoded.
"""

from weebill.workflow.job import job

import torch

from weebill.evaluation.measurement import Variant, model_sha256
from weebill.evaluation.quality.comet import caching_scorer, measure_comet
from weebill.evaluation.quality.translation_quality import TestSet
from weebill.files import write_json
from weebill.kernels.accelerator import device_of
from weebill.metric.folder import load_metric
from weebill.text_files import read_lines

with job(snakemake.log[0]):
    torch.set_num_threads(snakemake.threads)
    params = snakemake.params
    device = device_of(params.accelerator)
    metric = load_metric(params.model, params.encoder)
    scorer = caching_scorer(metric, params.precision, device, params.cache)
    variants = {Variant.parse(name): told for name, told in params.variants.items()}
    hashes = {variant: model_sha256(models) for variant, (models, _) in variants.items()}
    rows = []
    for index, name in enumerate(params.test_sets):
        rows += measure_comet(
            scorer,
            TestSet.read(name, snakemake.input.test_sets[index]),
            {variant: list(read_lines(files[index])) for variant, (_, files) in variants.items()},
            bootstrap=params.bootstrap,
            model_sha256=hashes,
            seed=params.seed,
        )
    write_json(snakemake.output[0], rows)
