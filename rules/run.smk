"""Checks and an estimate of the cost before the first job, and the path of the report after the last."""

import re
import shutil

from weebill.configuration.checking import (
    estimate,
    missing_file_notes,
    missing_files,
    unfit_models,
)
from weebill.files import write_json


def unwritable(folder):
    """Return a list with a message if `folder` cannot be made or written, otherwise an empty list."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        return [
            f"{folder}: cannot write results here ({error.strerror}); "
            "make it writable, or run in another folder with --directory"
        ]
    return []


def print_estimate():
    """Print the disk space and the time that the experiment needs."""
    place = next(folder for folder in [RESULTS, *RESULTS.parents] if folder.exists())
    lines = estimate(config, ZOO).lines(RESULTS, shutil.disk_usage(place).free)
    print("\n".join(lines), file=sys.stderr)


def is_dry_run():
    """Return True in a dry run, which only the command-line arguments show at this point."""
    return any(
        argument in ("--dry-run", "--dryrun")
        or re.fullmatch("-[a-zA-Z]*n[a-zA-Z]*", argument)
        for argument in sys.argv[1:]
    )


# Snakemake does not call `onstart` in a dry run, nor that of a workflow imported as a module.
IS_MODULE = not workflow.modifier.is_main_snakefile()
if workflow.is_main_process and (IS_MODULE or is_dry_run()):
    if unfit := unfit_models(config):
        stop("\n".join(f"{CONFIG_FILE}: {line}" for line in unfit))
    print_estimate()
    if notes := missing_file_notes(config):
        print("\n".join(notes), file=sys.stderr)


onstart:
    lines = [*missing_files(config), *unfit_models(config)]
    problems = [f"{CONFIG_FILE}: {line}" for line in lines]
    problems += unwritable(RESULTS)
    if problems:
        stop("\n".join(problems))
    print_estimate()
    write_json(RESULTS / "configuration.json", config)


onsuccess:
    if all(Path(target).exists() for target in final_targets()):
        print(f"Report: {REPORT}", file=sys.stderr)
