"""Time the students on a GPU, in words per second by mini-batch size (rule measure_gpu_speed).

The text is that of the test sets, whose timed translations also give BLEU, followed by lines of a corpus.
"""

from weebill.workflow.job import job

from itertools import chain

from weebill.corpus.table import side_texts
from weebill.evaluation.quality.translation_quality import TestSet
from weebill.evaluation.timing.gpu_speed import measure_gpu_speed
from weebill.evaluation.timing.gpu_text import TimedText
from weebill.files import write_json
from weebill.kernels.accelerator import device_of

if __name__ == "__main__":  # the worker processes import this file
    with job(snakemake.log[0]):
        params, files = snakemake.params, snakemake.input
        test_sets = list(map(TestSet.read, params.test_sets, files.test_sets))
        others = chain(*(side_texts(path, "source") for path in files.corpus))
        speeds = measure_gpu_speed(
            params.students,
            TimedText.of(test_sets, others, params.sentences, params.corpus),
            batch_sizes=params.batch_sizes,
            rounds=params.rounds,
            numbers=params.numbers,
            latency_sentences=params.latency_sentences,
            target=params.target,
            device=device_of(params.accelerator),
        )
        write_json(snakemake.output[0], speeds)
