"""Measure the rounding error of each formula of activation scales in a student (rule measure_activation_error).

A float32 model translates sentences of every test set greedily. For each linear map and formula, the table has the
squared error of the map's input with the scale that follows from the activation ranges.
"""

from weebill.workflow.job import job

from itertools import islice

import torch

from weebill.corpus.table import side_texts
from weebill.files import write_json
from weebill.quantization.calibration import (
    FORMULAS,
    activation_scales,
    load_ranges,
    measure_errors,
)
from weebill.translation.model.folder import load_model
from weebill.translation.search import greedy_translations

with job(snakemake.log[0]):
    torch.set_num_threads(snakemake.threads)
    model = load_model(snakemake.input.model)
    ranges = load_ranges(snakemake.input.ranges)
    scales = {formula: activation_scales(ranges, formula) for formula in FORMULAS}
    sentences = []
    for path in snakemake.input.test_sets:
        sentences += islice(side_texts(path, "source"), snakemake.params.sentences)
    errors = measure_errors(
        model.network,
        lambda: greedy_translations(model.network, model.vocabulary, sentences, "the test sets"),
        scales,
    )
    write_json(snakemake.output[0], errors)
