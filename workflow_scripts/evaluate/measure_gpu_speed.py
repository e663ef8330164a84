"""Time the students on a GPU, in words per second by mini-batch size (rule measure_gpu_speed)."""

from weebill.workflow.job import job

from dataclasses import asdict

from weebill.corpus.table import read_columns
from weebill.evaluation.timing.gpu_speed import measure_gpu_speed
from weebill.files import write_json

with job(snakemake.log[0]):
    params = snakemake.params
    sentences = []
    for path in snakemake.input.test_sets:
        sentences += read_columns(path, ["source"])["source"].to_pylist()
    speeds = measure_gpu_speed(
        params.students,
        sentences[: params.sentences],
        batch_sizes=params.batch_sizes,
        rounds=params.rounds,
    )
    write_json(snakemake.output[0], [asdict(speed) for speed in speeds])
