"""Translate a test set with a model or an ensemble (rule translate_test_set).

Read one or several model folders and a test set table, and write one translation per line.
"""

from weebill.workflow.job import job

import logging

import torch

from weebill.corpus.table import side_texts
from weebill.evaluation.quality.translation_file import write_translations
from weebill.kernels.accelerator import device_of
from weebill.translation.loading import load_translator
from weebill.translation.running import options_on
from weebill.workflow.progress import counter
from weebill_runtime.options import SearchOptions, cut_logger

with job(snakemake.log[0]):
    torch.set_num_threads(snakemake.threads)
    sources = list(side_texts(snakemake.input.test_set, "source"))
    device = device_of(snakemake.params.accelerator)
    models = snakemake.input.model  # a list if there are several
    folders = [models] if isinstance(models, str) else list(models)
    translator = load_translator(folders, device, tuple(snakemake.params.languages))
    translator.on_cut = cut_logger(f"{snakemake.input.test_set}:")
    search = options_on(device, SearchOptions(**snakemake.params.search))
    translations = translator.translate(sources, search, counter(len(sources), "sentences"))
    write_translations(snakemake.output[0], translations, sources)
    logging.info("%s sentences translated", f"{len(sources):,}")
