"""Score pairs in bicleaner's environment (rule classify_by_bicleaner).

Read parts of pairs and a model folder, and write one part of scores for each part of pairs.
"""

from weebill.workflow.job import job

import argparse
from functools import partial

from weebill.corpus.bicleaner.classification import load_classifier, score_pairs
from weebill.files import content_hash

parser = argparse.ArgumentParser()
for name in ("--log", "--pairs", "--model", "--output", "--code"):
    parser.add_argument(name, required=True)
parser.add_argument("--languages", nargs=2, required=True)
parser.add_argument("--threads", type=int, required=True)
parser.add_argument("--hard-rules", action="store_true")
given = parser.parse_args()

with job(given.log):
    languages = tuple(given.languages)
    load = partial(load_classifier, given.model, languages, given.hard_rules, given.threads)
    made_by = {
        "model": content_hash(given.model),
        "languages": languages,
        "hard_rules": given.hard_rules,
        "threads": given.threads,
        "code": given.code,
    }
    score_pairs(given.pairs, given.output, load, made_by)
