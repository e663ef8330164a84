"""Time all variants in one run, interleaved (rule measure_speed).

Read the model folders and the test sets' sources. Write words per second on one core and on all, latency, loading
times and memory, in the runtime with and without a shortlist, and in PyTorch. The teacher runs only in PyTorch, on
fewer sentences.
"""

from weebill.workflow.job import job

from functools import partial

from weebill.corpus.table import side_texts
from weebill.evaluation.measurement import Variant
from weebill.evaluation.timing.latency import measure_latency
from weebill.evaluation.timing.speed import Entrant, measure_speed
from weebill.files import write_json
from weebill.runtime.text import load_runtime
from weebill.translation.loading import load_translator
from weebill_runtime.options import SearchOptions

if __name__ == "__main__":  # the worker processes import this file
    with job(snakemake.log[0]):
        params, output = snakemake.params, snakemake.output
        tables = snakemake.input.test_sets
        sentences = [line for path in tables for line in side_texts(path, "source")]
        by_torch = partial(load_translator, languages=tuple(params.languages))
        students, teachers = [], []
        for name, folders, search, shortlist in params.entrants:
            options = SearchOptions(**search)
            if Variant.parse(name).student == "teacher":
                teachers.append(Entrant(name, by_torch, folders, options))
                continue
            students.append(Entrant(name, load_runtime, folders[0], options))
            if shortlist:
                choosing = partial(load_runtime, shortlist=shortlist)
                students.append(Entrant(name, choosing, folders[0], options))
            students.append(Entrant(name, by_torch, folders, options))
        speeds, latencies = [], []
        for entrants, most in ((teachers, params.teacher_sentences), (students, params.sentences)):
            if entrants and most:
                speeds += measure_speed(
                    entrants,
                    sentences[: min(most, params.sentences)],
                    rounds=params.rounds,
                    cores=snakemake.threads,
                    least_seconds=params.least_seconds,
                    shared=entrants is students,
                )
                latencies += measure_latency(
                    entrants, sentences[: min(most, params.latency_sentences)]
                )
        write_json(output.speed, speeds)
        write_json(output.latency, latencies)
