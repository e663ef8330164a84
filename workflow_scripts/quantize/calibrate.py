"""Record the activation ranges of a student (WNGT20 §5.1).

A float32 model greedily translates sentences that are drawn at random from all of its training text. The JSON file
has the mean and the standard deviation of max|A| for each linear map.
"""

from weebill.workflow.job import job

import pyarrow as pa
import torch

from weebill.corpus.sampling import draw_rows
from weebill.corpus.table import read_batches
from weebill.quantization.calibration import record_ranges, save_ranges
from weebill.translation.model.folder import load_model
from weebill.translation.search import greedy_translations

with job(snakemake.log[0]):
    torch.set_num_threads(snakemake.threads)
    model = load_model(snakemake.input.model)
    batches = map(pa.table, read_batches(snakemake.input.corpus, columns=["source"]))
    drawn = draw_rows(batches, snakemake.params.sentences, snakemake.params.seed)
    sentences = [] if drawn is None else drawn["source"].to_pylist()
    ranges = record_ranges(
        model.network,
        lambda: greedy_translations(
            model.network, model.vocabulary, sentences, snakemake.input.corpus
        ),
    )
    save_ranges(snakemake.output[0], ranges)
