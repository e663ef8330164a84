"""Score all variants by a COMET model (rule measure_comet): from translations and test sets into measurements.

Sentence vectors are kept in a file from run to run: a further variant costs its own translations alone.
"""

import torch

from goldcrest.evaluation.comet import measure_comet
from goldcrest.evaluation.measurement import Variant, model_sha256
from goldcrest.evaluation.quality import TestSet
from goldcrest.files import write_json
from goldcrest.job import job
from goldcrest.metric.cache import VectorCache
from goldcrest.metric.folder import load_metric
from goldcrest.metric.scorer import Scorer
from goldcrest.text_files import read_lines

with job(snakemake.log[0]):
    torch.set_num_threads(snakemake.threads)
    params = snakemake.params
    device = "cuda" if params.accelerator == "gpu" else "cpu"
    cache = VectorCache(params.cache)
    scorer = Scorer(load_metric(params.model, params.encoder), params.precision, device, cache)
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
    cache.close()
    write_json(snakemake.output[0], [row.to_dict() for row in rows])
