"""Kill Snakemake alone at random moments while it or its jobs start; no job may outlive it.

python tests/workflow/orphans.py --kills 100 --json docs/results/reliability/orphans.json
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.reliability import provenance
from tests.workflow.interruptions import wait_for_the_end
from tests.workflow.waiting_jobs import Run

FIRST, LAST = 0.5, 7.0  # seconds after Snakemake's start


def main() -> int:
    """Kill, wait and count; return 1 if a job has outlived its run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    chance, states, outlived = random.Random(given.seed), Counter[str](), 0
    with tempfile.TemporaryDirectory(prefix="weebill-orphans-") as place:
        for number in range(given.kills):
            run = Run(Path(place) / str(number))
            time.sleep(chance.uniform(FIRST, LAST))
            state = run.state()
            run.kill()
            states[state] += 1
            try:
                wait_for_the_end(run.folder)
            except AssertionError as error:
                outlived += 1
                print(f"{state}: {error}", flush=True)
    print(f"{given.kills} kills, {outlived} with jobs that outlived them: {dict(states)}")
    if given.json:
        found = {**provenance(given.seed), "states": dict(states), "outlived": outlived}
        given.json.write_text(json.dumps(found, indent=1) + "\n")
    return int(outlived > 0)


if __name__ == "__main__":
    sys.exit(main())
