"""Time all variants in one run, interleaved (rule measure_speed).

From the model folders and the test sets' sources into words per second on one core and on all.
"""

import logging

from goldcrest.corpus.table import read_columns
from goldcrest.evaluation.speed import Entrant, measure_speed
from goldcrest.files import write_json
from goldcrest.job import job
from goldcrest.translation.search import SearchOptions
from goldcrest.translation.translator import load_translator

if __name__ == "__main__":  # the worker processes import this file
    with job(snakemake.log[0]):
        params = snakemake.params
        sentences = []
        for path in snakemake.input.test_sets:
            sentences += read_columns(path, ["source"])["source"].to_pylist()
        speeds = measure_speed(
            [
                Entrant(name, load_translator, folders, SearchOptions(**search))
                for name, folders, search in params.entrants
            ],
            sentences[: params.sentences],
            rounds=params.rounds,
            cores=snakemake.threads,
            report=logging.info,
        )
        write_json(snakemake.output[0], [speed.to_dict() for speed in speeds])
