"""Rehearse an experiment: run a miniature of it to its report, through all of its rules.

The miniature has one variant for each combination of method, precision and kind of architecture, two test sets,
shards and members, a few hundred lines of stand-in text for each corpus, small models of the same structure, and a
few dozen updates.  The code and kinds of numbers of a GPU run on the processor.  Models of the hub are replaced by
small ones of their class.  Results go to results/rehearsal-EXPERIMENT; their numbers mean nothing.  A failed
rehearsal continues where it stopped.  A complete one writes a summary to rehearsal.json.
"""

import argparse
import time
from pathlib import Path

from weebill.arguments import positive
from weebill.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `weebill rehearse`."""
    parser.add_argument("config", type=Path, metavar="CONFIG", help="config/NAME.yaml")
    parser.add_argument(
        "--full", action="store_true", help="keep all variants, test sets and language pairs"
    )
    limit = "stop after N minutes, the next call continues; by default there is no limit"
    parser.add_argument("--minutes", type=positive, metavar="N", help=limit)
    parser.add_argument("--cores", default="all", metavar="N", help="processor cores; default all")


def run(arguments: argparse.Namespace) -> int:
    """Prepare the miniature, compare its rules with the experiment's, and run it; return 1 if it fails."""
    from weebill.commands.run import snakefile
    from weebill.files import write_json
    from weebill.rehearsal.audit import misplaced
    from weebill.rehearsal.preparing import prepare
    from weebill.rehearsal.record import NAME, record
    from weebill.rehearsal.running import compared, run_miniature, told
    from weebill.workflow.rules_of_run import jobs_by_rule

    prepared = prepare(arguments.config, arguments.full)
    jobs = [jobs_by_rule(config, snakefile()) for config in (arguments.config, prepared.config)]
    print("\n".join(told(*jobs)), flush=True)
    if missing := compared(*jobs):
        raise InputError(f"{arguments.config}: {missing}; tell Weebill's authors")
    results, start = prepared.report.parent, time.monotonic()
    fresh = not (results / "logs").exists()
    code = run_miniature(prepared.config, snakefile(), arguments.cores, arguments.minutes)
    if code == 0 and (faults := misplaced(results)):
        raise InputError("; ".join([*faults, "tell Weebill's authors"]))
    if code == 0 and fresh:  # else the time would cover only a part of the run
        seconds = time.monotonic() - start
        write_json(results / NAME, record(arguments.config, results, jobs, seconds))
    if code == 0:
        print(
            f"Rehearsed: all {len(jobs[0])} rules of {arguments.config} have run; {prepared.report}"
        )
    return code
