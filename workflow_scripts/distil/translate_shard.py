"""Translate a shard with the teacher (rule translate_shard).

Read a shard and the teacher's model folders, and write a table of n-best translations in which the translation
nearest to the reference is selected. A killed job resumes where it stopped.
"""

from weebill.workflow.job import job

import torch

from weebill.files import content_hash
from weebill.runtime.text import load_runtime
from weebill.translation.distillation.decoding import translate_shard
from weebill.translation.loading import is_hugging_face, load_translator
from weebill.translation.search import SearchOptions, fastest_precision

with job(snakemake.log[0]):
    torch.set_num_threads(snakemake.threads)
    teacher = [str(folder) for folder in snakemake.input.teacher]
    languages = tuple(snakemake.params.languages)
    device = "cuda" if snakemake.params.accelerator == "gpu" else "cpu"
    precision = snakemake.params.precision
    if precision == "auto":
        precision = fastest_precision(device)
    if device == "cpu" and not any(map(is_hugging_face, teacher)):
        translator = load_runtime(teacher, threads=snakemake.threads, precision=precision)
        engine = translator.isa
    else:
        translator = load_translator(teacher, device, languages, precision)
        engine = "torch"
    translate_shard(
        snakemake.input.shard,
        snakemake.output.nbest,
        translator,
        SearchOptions(**snakemake.params.search),
        {
            "teacher": [content_hash(folder) for folder in teacher],
            "languages": list(languages),
            "code": snakemake.params.code,
            "device": device,
            "engine": engine,
            "precision": precision,
            "threads": snakemake.threads,
            "torch": torch.__version__,
        },
        snakemake.params.target,
    )
