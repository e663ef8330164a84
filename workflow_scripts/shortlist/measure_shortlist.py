"""Translate and score a variant with its shortlist (rule measure_shortlist).

Read a model folder, its shortlist, the test sets and the translations with the whole vocabulary. Write coverage,
columns, and BLEU with its interval and significance.
"""

from weebill.workflow.job import job

import torch

from weebill.evaluation.measurement import Variant, model_sha256
from weebill.evaluation.quality.shortlist import measure_shortlist
from weebill.evaluation.quality.translation_quality import TestSet
from weebill.files import write_json
from weebill.kernels.extension import PORTABLE
from weebill.runtime.text import load_runtime
from weebill.text_files import read_lines
from weebill_runtime.options import SearchOptions, cut_logger

with job(snakemake.log[0]):
    torch.set_num_threads(snakemake.threads)
    params, files = snakemake.params, snakemake.input
    # PyTorch translates, as without the shortlist, so translations are equal on every machine.
    translator = load_runtime(files.model, PORTABLE, files.shortlist)
    search = SearchOptions(**params.search)
    rows = []
    for name, path, without in zip(
        params.test_sets, files.test_sets, files.translations, strict=True
    ):
        test_set = TestSet.read(name, path)
        translator.on_cut = cut_logger(f"{path}:")
        rows.append(
            measure_shortlist(
                Variant.parse(params.variant),
                test_set,
                files.shortlist,
                translator.vocabulary,
                translator.translate(test_set.sources, search),
                list(read_lines(without)),
                batch_size=search.batch_size,
                bootstrap=params.bootstrap,
                target=params.target,
                model_sha256=model_sha256([files.model]),
                seed=params.seed,
            )
        )
    write_json(snakemake.output[0], rows)
