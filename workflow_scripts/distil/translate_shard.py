"""Translate a shard of a corpus with the teacher (rules translate_shard, back_translate_shard, translate_pairs).

Read a corpus and the teacher's model folders, and write a table of n-best translations of one shard. The translation
nearest to the reference is selected. A killed job resumes where it stopped.
"""

from weebill.workflow.job import job

from pathlib import Path

import torch

from weebill.files import content_hash
from weebill.hugging_face.recognition import is_hugging_face
from weebill.kernels.accelerator import device_of
from weebill.runtime.text import load_runtime
from weebill.translation.distillation.decoding import translate_shard
from weebill.translation.distillation.shards import write_shard
from weebill.translation.loading import load_translator
from weebill.translation.running import options_on, precision_on
from weebill_runtime.options import SearchOptions

CHUNK_ROWS = {"cpu": 4096, "cuda": 65_536}  # rows translated together, sorted by length

if __name__ == "__main__":  # the worker processes import this file
    with job(snakemake.log[0]):
        torch.set_num_threads(snakemake.threads)
        teacher = [str(folder) for folder in snakemake.input.teacher]
        languages = tuple(snakemake.params.languages)
        device = device_of(snakemake.params.accelerator)
        precision = precision_on(device, snakemake.params.precision)
        if device == "cpu" and not any(map(is_hugging_face, teacher)):
            translator = load_runtime(teacher, threads=snakemake.threads, precision=precision)
            engine = translator.isa
        else:
            translator = load_translator(teacher, device, languages, precision)
            engine = "torch"
        params, text = snakemake.params, Path(f"{snakemake.output.nbest}.text")
        number = int(snakemake.wildcards.shard)
        write_shard(snakemake.input[0], text, number, params.shards, params.parallel, params.side)
        translate_shard(
            text,
            snakemake.output.nbest,
            translator,
            options_on(device, SearchOptions(**snakemake.params.search)),
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
            CHUNK_ROWS[torch.device(device).type],
            workers=0 if device == "cpu" else snakemake.threads,
        )
        text.unlink()
