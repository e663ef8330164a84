"""Before the first job: can this run succeed at all?  After the last: the report."""

import shutil
import subprocess

from goldcrest.configuration import estimate_disk, missing_files


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


def report_command(path):
    """The command that makes the report of this configuration."""
    command = [sys.executable, "-m", "snakemake", "--report", str(path), "--nolock"]
    command += ["--snakefile", workflow.main_snakefile, "--quiet", "all"]
    settings = [
        f"{key}={value}" for key, value in workflow.config_settings.config.items()
    ]
    command += ["--configfile", *map(str, workflow.configfiles)]
    return command + (["--config", *settings] if settings else [])


onstart:
    problems = [f"{CONFIG_FILE}: {line}" for line in missing_files(config)]
    problems += unwritable(RESULTS)
    if problems:
        stop("\n".join(problems))
    needed, free = estimate_disk(config), shutil.disk_usage(RESULTS).free
    advice = (
        ""
        if free > needed
        else "; this may not suffice, free some before it is needed"
    )
    print(
        f"{RESULTS}: needs about {needed / 2**30:.1f} GiB at most, {free / 2**30:.1f} GiB are free{advice}",
        file=sys.stderr,
    )


onsuccess:
    if all(Path(target).exists() for target in final_targets()):
        path = RESULTS / "report.html"
        made = subprocess.run(report_command(path), capture_output=True, text=True)
        if made.returncode:
            print(f"{path}: could not be made:\n{made.stderr}", file=sys.stderr)
        else:
            print(f"Report: {path}", file=sys.stderr)
