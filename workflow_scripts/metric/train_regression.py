"""Train a COMET regression model in unbabel-comet's environment.

Read an encoder's folder or name and tables of scored segments, and write a checkpoint folder.
"""

from weebill.workflow.job import job

import argparse
import json

from weebill.metric.regression import RegressionSettings, train

parser = argparse.ArgumentParser()
for name in ("--log", "--encoder", "--training", "--validation", "--output"):
    parser.add_argument(name, required=True)
parser.add_argument("--settings", type=json.loads, required=True)
parser.add_argument("--seed", type=int, required=True)
parser.add_argument("--threads", type=int, required=True)
parser.add_argument("--accelerator", choices=["cpu", "gpu", "rehearsal"], default="cpu")
given = parser.parse_args()

with job(given.log):
    train(
        RegressionSettings(**given.settings),
        given.encoder,
        given.training,
        given.validation,
        given.output,
        given.seed,
        threads=given.threads,
        accelerator=given.accelerator,
    )
