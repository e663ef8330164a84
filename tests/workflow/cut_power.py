"""Cut the power of a run at random moments, finish from what is on the disk, and compare, byte for byte.

python tests/workflow/cut_power.py --cuts 30

The run writes to its own file system, whose image is a file.  A copy of this file at some moment has what a power
cut would leave: data that the system still held in memory are missing.  Each copy is mounted, which replays the file
system's journal, and the run continues there to its end.  Models and tables must equal those of an undisturbed run:
no missing file may count as done.  The script needs the right to mount.  It writes the counts to --json, if given.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.reliability import provenance
from tests.workflow.interruptions import differences, has_ended, start
from tests.workflow.running import (
    TINY,
    TRANSLATION,
    become_new_snakemake,
    fingerprints,
    report_is_whole,
    snakemake,
)

MIB = 512  # size of the file system
LONGEST = 4.0  # seconds between two copies
MEMORY = Path("/dev/shm")  # copying takes milliseconds there, so a copy shows one moment


@contextmanager
def mounted(image: Path, place: Path) -> Iterator[Path]:
    """Mount the file system of an image file at `place`."""
    place.mkdir(exist_ok=True)
    subprocess.run(["mount", "-o", "loop", image, place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def run_with_cuts(
    image: Path, place: Path, cuts: int, cores: str, chance: random.Random
) -> list[tuple[float, Path]]:
    """Run once; return random moments of the run, in seconds, each with its copy of the file system."""
    kept: list[tuple[float, Path]] = []
    with mounted(image, place):
        process = start(place, TINY, "--cores", cores, become=become_new_snakemake)
        began, number = time.monotonic(), 0
        while not has_ended(process, chance.uniform(0, LONGEST)):
            # All copies so far have the same chance of being kept, however long the run takes.
            slot = len(kept) if len(kept) < cuts else chance.randrange(number + 1)
            number += 1
            if slot < cuts:
                copy, moment = image.with_name(f"cut-{slot}.img"), time.monotonic() - began
                subprocess.run(["cp", "--sparse=always", image, copy], check=True)
                kept[slot : slot + 1] = [(moment, copy)]
        assert process.exitcode == 0, (place / "killed.log").read_text()
    return sorted(kept)


def finished(copy: Path, place: Path, cores: str) -> tuple[dict[str, str], bool]:
    """Finish the run in a copy; return the hashes of its files, and True if its report is whole."""
    with mounted(copy, place):
        run = snakemake(place, TINY, "--rerun-incomplete", "--cores", cores, imported=TRANSLATION)
        assert run.returncode == 0, run.stdout
        results = place / "results/tiny"
        return fingerprints(results), report_is_whole(results)


def main() -> int:
    """Run undisturbed, run with cuts, finish every copy and compare; return 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cuts", type=int, default=30)
    parser.add_argument("--cores", default=str(os.cpu_count()))
    parser.add_argument("--seed", type=int, default=0, help="of the moments of the cuts")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="weebill-cut-"))
    memory = Path(tempfile.mkdtemp(prefix="weebill-cut-", dir=MEMORY))
    calm, image = place / "undisturbed", memory / "disk.img"
    calm.mkdir()
    run = snakemake(calm, TINY, "--cores", given.cores, imported=TRANSLATION)
    assert run.returncode == 0, run.stdout
    expected = fingerprints(calm / "results/tiny")
    print(f"undisturbed run: {len(expected)} files", flush=True)
    subprocess.run(["truncate", "-s", f"{MIB}M", image], check=True)
    subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
    chance, held = random.Random(given.seed), 0
    copies = run_with_cuts(image, place / "disk", given.cuts, given.cores, chance)
    assert len(copies) == given.cuts, "the run was too short for so many cuts"
    for moment, copy in copies:
        found, whole = finished(copy, place / "disk", given.cores)
        copy.unlink()
        differing = differences(expected, found)
        held += whole and not differing
        told = "equal" if not differing else f"these files differ: {', '.join(differing)}"
        print(f"cut after {moment:.1f} s: {told}{'' if whole else '; no whole report'}", flush=True)
    shutil.rmtree(memory)
    if given.json:
        found = {"cuts": given.cuts, "held": held, **provenance(given.seed)}
        given.json.write_text(json.dumps(found, indent=1) + "\n")
    print(f"{held} of {given.cuts} cuts: all {len(expected)} files equal, byte for byte")
    if held == given.cuts:
        shutil.rmtree(place)
    return int(held < given.cuts)


if __name__ == "__main__":
    sys.exit(main())
