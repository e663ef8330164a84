"""Before the first job: can this run succeed at all, and what will it cost?  After the last: where the report is."""

import re
import shutil

from weebill.configuration.kinds import (
    estimate,
    missing_file_notes,
    missing_files,
    unfit_models,
)
from weebill.files import write_json


def unwritable(folder):
    """One line, in a list, where `folder` cannot be made or written."""
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
    """What the experiment needs of disk and time."""
    place = next(folder for folder in [RESULTS, *RESULTS.parents] if folder.exists())
    lines = estimate(config, ZOO).lines(RESULTS, shutil.disk_usage(place).free)
    print("\n".join(lines), file=sys.stderr)


def is_dry_run():
    """Return True in a dry run; how Snakemake was called is known here from its arguments alone."""
    return any(
        argument in ("--dry-run", "--dryrun")
        or re.fullmatch("-[a-zA-Z]*n[a-zA-Z]*", argument)
        for argument in sys.argv[1:]
    )


# A dry run has no start, and Snakemake calls `onstart` of the main workflow only, not of one imported as a module.
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
