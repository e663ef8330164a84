"""Record the activation ranges of a student (WNGT20 §5.1).

A float32 model translates the first sentences of its training corpus greedily. The JSON file has the mean and the
standard deviation of max|A| for each linear map.
"""

from weebill.workflow.job import job

from itertools import chain, islice

import torch

from weebill.corpus.table import read_batches
from weebill.quantization.calibration import record_ranges, save_ranges
from weebill.translation.model.folder import load_model
from weebill.translation.search import greedy_translations

with job(snakemake.log[0]):
    torch.set_num_threads(snakemake.threads)
    model = load_model(snakemake.input.model)
    batches = read_batches(snakemake.input.corpus, columns=["source"])
    sources = chain.from_iterable(batch["source"].to_pylist() for batch in batches)
    sentences = list(islice(sources, snakemake.params.sentences))
    ranges = record_ranges(
        model.network,
        lambda: greedy_translations(
            model.network, model.vocabulary, sentences, snakemake.input.corpus
        ),
    )
    save_ranges(snakemake.output[0], ranges)
