"""Translate a test set by minimum Bayes risk (rule choose_by_mbr).

The teacher's models make many translations of each line, and a utility chooses one of them.
"""

from weebill.workflow.job import job

import torch

from weebill.corpus.table import side_texts
from weebill.evaluation.quality.translation_file import write_translations
from weebill.kernels.accelerator import device_of
from weebill.metric.folder import load_metric
from weebill.metric.mbr import MetricUtility, SentenceUtility, decode_all
from weebill.metric.scorer import Scorer
from weebill.translation.loading import load_translator
from weebill.translation.running import options_on
from weebill_runtime.options import Sampling, SearchOptions, cut_logger

ROWS = 512  # candidates per batch on the processor

with job(snakemake.log[0]):
    torch.set_num_threads(snakemake.threads)
    params, mbr, comet = snakemake.params, snakemake.params.mbr, snakemake.params.comet
    sources = list(side_texts(snakemake.input.test_set, "source"))
    device = device_of(params.accelerator)
    models = snakemake.input.model
    folders = [models] if isinstance(models, str) else list(models)
    sampled = mbr["by"] == "sampling"
    options = SearchOptions(
        beam=1 if sampled else mbr["candidates"],
        nbest=mbr["candidates"],
        batch_size=max(1, ROWS // mbr["candidates"]),
        sampling=Sampling(mbr["temperature"], mbr["epsilon"], params.seed) if sampled else None,
        **params.search,
    )
    translator = load_translator(folders, device, tuple(params.languages))
    translator.on_cut = cut_logger(f"{snakemake.input.test_set}:")
    found = translator.nbest(sources, options_on(device, options))
    candidates = [[one.text for one in some] for some in found]
    if mbr["utility"] == "comet":
        metric = load_metric(comet["model"], comet.get("encoder"))
        utility = MetricUtility(Scorer(metric, comet["precision"], device))
    else:
        utility = SentenceUtility(mbr["utility"], params.target)
    chosen = decode_all(
        sources,
        candidates,
        utility,
        beside_itself=mbr["beside_itself"],
        first=SentenceUtility("chrf") if "kept" in mbr else None,
        kept=mbr.get("kept"),
    )
    write_translations(snakemake.output[0], [choices[0].text for choices in chosen], sources)
