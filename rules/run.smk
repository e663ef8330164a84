"""Before the first job: can this run succeed at all?  After the last: where the report is."""

import shutil

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
        print(f"Report: {REPORT}", file=sys.stderr)
