"""Train bicleaner's lite classifier in its own environment (rule train_bicleaner).

Read files of clean pairs, and write a model folder.
"""

from weebill.workflow.job import job

import argparse
import json

from weebill.corpus.bicleaner.training import train

parser = argparse.ArgumentParser()
for name in ("--log", "--pairs", "--output"):
    parser.add_argument(name, required=True)
parser.add_argument("--languages", nargs=2, required=True)
parser.add_argument("--settings", type=json.loads, required=True)
parser.add_argument("--seed", type=int, required=True)
given = parser.parse_args()

with job(given.log):
    train(given.pairs, given.output, tuple(given.languages), given.settings, given.seed)
