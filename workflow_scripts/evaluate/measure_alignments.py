"""Compare the alignments of all variants with those of the published student (rule measure_alignments)."""

from weebill.workflow.job import job

import torch

from weebill.corpus.table import side_texts
from weebill.evaluation.quality.alignment import PublishedAlignments, measure_agreement
from weebill.files import write_json
from weebill.runtime.text import load_runtime
from weebill.translation.model.packed_folder import load_any_model
from weebill_runtime.options import SearchOptions

with job(snakemake.log[0]):
    torch.set_num_threads(snakemake.threads)
    files, variants = snakemake.input, snakemake.params.variants
    sources = [line for path in files.test_sets for line in side_texts(path, "source")]
    targets = load_runtime(files.published).translate(sources, SearchOptions())
    published = PublishedAlignments(load_any_model(files.published), sources, targets)
    rows = [
        measure_agreement(name, load_any_model(folder), published)
        for name, folder in zip(variants, files.models, strict=True)
    ]
    write_json(snakemake.output[0], rows)
