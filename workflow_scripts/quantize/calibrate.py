"""Record the activation ranges of a student (WNGT20 §5.1).

A float32 model greedily translates sentences drawn at random from all of its training text. The JSON file has the
mean and the standard deviation of max|A| for each linear map.
"""

from weebill.workflow.job import job

import torch

from weebill.corpus.sampling import draw_texts
from weebill.files import write_json
from weebill.quantization.calibration import record_ranges
from weebill.translation.model.folder import load_model
from weebill.translation.search import greedy_translations

with job(snakemake.log[0]):
    torch.set_num_threads(snakemake.threads)
    model = load_model(snakemake.input.model)
    params = snakemake.params
    sentences = draw_texts(snakemake.input.corpus, "source", params.sentences, params.seed)
    ranges = record_ranges(
        model.network,
        lambda: greedy_translations(
            model.network, model.vocabulary, sentences, snakemake.input.corpus
        ),
    )
    write_json(snakemake.output[0], ranges)
