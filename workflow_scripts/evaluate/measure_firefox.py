"""Measure exports for Firefox in Bergamot, and the same students in our engine (rule measure_firefox).

Read the published student, int8 variants with their shortlists, and exports. Write sizes, speeds in interleaved
rounds, BLEU and chrF against the published student, and the numbers of kept tags.
"""

from weebill.workflow.job import job

import os

from weebill.benchmarks.firefox import Entrant, measure
from weebill.evaluation.measurement import conditions
from weebill.evaluation.quality.translation_quality import TestSet
from weebill.files import write_json

if __name__ == "__main__":
    with job(snakemake.log[0]):
        params, files = snakemake.params, snakemake.input
        test_sets = list(map(TestSet.read, params.test_sets, files.test_sets))
        python = os.environ.get("WEEBILL_BERGAMOT", params.python)
        entrants = [Entrant(*one) for one in params.entrants]
        options = params.rounds, params.bootstrap, params.target
        rows = measure(entrants, test_sets, python, *options)
        write_json(snakemake.output[0], {"rows": rows, **conditions()})
