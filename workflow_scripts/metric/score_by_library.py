"""Score a judged set with BERTScore or BLEURT in unbabel-comet's environment (rule score_by_library).

Read the judgements and a model, and write a score for each segment, with the name of its scorer.
"""

from weebill.workflow.job import job

import argparse
import json

import torch

from weebill.files import write_json
from weebill.kernels.accelerator import device_of
from weebill.metric.judged_set import JudgedSet, MetricScores
from weebill.metric.libraries import library_scores, library_signature

parser = argparse.ArgumentParser()
for name in ("--log", "--metric", "--model", "--judged", "--output"):
    parser.add_argument(name, required=True)
for name in ("--entry", "--by"):
    parser.add_argument(name, type=json.loads, required=True)
parser.add_argument("--threads", type=int, required=True)
parser.add_argument("--accelerator", choices=["cpu", "gpu", "rehearsal"], default="cpu")
given = parser.parse_args()

with job(given.log):
    torch.set_num_threads(given.threads)
    library, layer = given.by["by"], given.by.get("layer")
    signature = library_signature(library, given.model, layer)
    rows = JudgedSet.read(given.judged, given.entry).judgements
    scores = library_scores(
        library,
        given.model,
        rows["mt"].tolist(),
        rows["ref"].tolist(),
        layer=layer,
        device=device_of(given.accelerator),
    )
    write_json(given.output, MetricScores(given.metric, signature, scores).to_dict())
