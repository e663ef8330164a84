"""Checks and an estimate of the cost before the first job, and a summary of the results after the last."""

import shutil

from weebill.configuration.checking import (
    estimate,
    missing_file_notes,
    missing_files,
    unfit_models,
)
from weebill.configuration.expected_work import tell_display
from weebill.configuration.fetching import missing_tokenizers
from weebill.experiment.variants import every_variant
from weebill.files import write_json
from weebill.report.outcome import outcome
from weebill.report.rows import CODE, code_of_rules
from weebill.kernels.accelerator import missing_gpus
from weebill.workflow.folder_lock import hold, remove_left_locks, remove_left_outputs
from weebill.workflow.targets import asked_targets, is_dry_run, unknown_targets


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
    cost = tell_display(config, estimate(config, ZOO))
    lines = cost.lines(RESULTS, shutil.disk_usage(place).free)
    print("\n".join(lines), file=sys.stderr)


def nameable_targets():
    """Return further targets that users may name, besides rules and files without wildcards."""
    named = ["all", *map(str, final_targets())]
    if config["kind"] == "translation":
        named += [str(MODELS.joinpath(*variant)) for variant in every_variant(config)]
    return named


# Snakemake calls neither `onstart` in a dry run nor the `onstart` of a workflow that is imported as a module.
IS_MODULE = not workflow.modifier.is_main_snakefile()
if workflow.is_main_process and not IS_MODULE:
    asked, known = asked_targets(sys.argv[1:]), nameable_targets()
    experiment = config["experiment"]
    if lines := unknown_targets(asked, workflow.rules, known, experiment, CONFIG_FILE):
        stop("\n".join(lines))
for place in (RESULTS, *RESULTS.parents):
    if place.exists() and not place.is_dir():  # Snakemake would end in a traceback
        stop(f"{place}: a file stands where results need a folder; move it away")
if workflow.is_main_process and not is_dry_run(sys.argv[1:]):
    remove_left_locks(RESULTS)  # before Snakemake looks for them
if workflow.is_main_process and (IS_MODULE or is_dry_run(sys.argv[1:])):
    if unfit := unfit_models(config):
        stop("\n".join(f"{CONFIG_FILE}: {line}" for line in unfit))
    print_estimate()
    if notes := missing_file_notes(config):
        print("\n".join(notes), file=sys.stderr)


onstart:
    # A cluster's submit node may lack the GPUs of its jobs, which check for GPUs themselves.
    accelerator = (
        config["hardware"]["accelerator"] if workflow.local_exec else "cpu"
    )
    lines = [
        *missing_gpus(accelerator, config["hardware"]["devices"]),
        *missing_files(config),
        *unfit_models(config),
        *missing_tokenizers(config),
    ]
    problems = [f"{CONFIG_FILE}: {line}" for line in lines]
    if problems := problems + unwritable(RESULTS):
        stop("\n".join(problems))
    try:
        hold(RESULTS)
    except InputError as error:
        stop(str(error))
    print_estimate()
    write_json(RESULTS / "configuration.json", config)
    write_json(RESULTS / CODE, code_of_rules(scripts_of_rules()))


onsuccess:
    if all(Path(target).exists() for target in final_targets()):
        shutil.rmtree(ENCODED, ignore_errors=True)
        if not workflow.storage_settings.notemp:
            remove_left_outputs(workflow.dag.jobs)
        lines = [f"Report: {REPORT}", *outcome(config, RESULTS)]
        print("\n".join(lines), file=sys.stderr)
