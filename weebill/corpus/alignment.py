"""Word alignment of sentence pairs by the program eflomal (Östling and Tiedemann 2016).

eflomal reads its random state from /dev/urandom and has no seed.  We run a copy of the program that reads a file
instead, so that the same program, text and seed give the same links.
"""

import importlib.util
import logging
import math
import os
import random
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from weebill.corpus.symmetrization import Link, grow_diag_final_and
from weebill.errors import InputError
from weebill.files import remove_folder

Pair = tuple[Sequence[int], Sequence[int]]

LONGEST = 1023  # words of a sentence
SAMPLERS = 3  # independent samplers whose probabilities are averaged; eflomal-align's default
NULL_PRIOR = 0.2  # prior of a word without counterpart; eflomal-align's default
URANDOM = b"\0/dev/urandom\0"
RANDOM_STATE = "random_state"  # as long as /dev/urandom
DIRECTIONS = {"forward": "-f", "reverse": "-r"}


def align(
    pairs: Iterable[Pair], vocabulary: int, seed: int, work: str | Path
) -> Iterator[tuple[list[int], list[int], list[Link]]]:
    """Yield source, target and links of every pair in order, symmetrized by grow-diag-final-and.

    pairs: words as numbers below `vocabulary`.  Pairs with an empty side, or a side of more than 1,023 words, get no
    links.  Text and links pass through files in the folder `work`, which is made anew and removed at the end, so
    that only eflomal needs memory.  Raises InputError if the program is missing or fails.
    """
    folder = Path(work)
    if folder.exists():  # from a killed job
        remove_folder(folder)
    folder.mkdir(parents=True)
    try:
        program = _seeded_program(folder, seed)
        count = _write_pairs(folder, pairs, vocabulary)
        if not count:
            raise InputError("there are no sentence pairs to align; look at the cleaning report")
        _run(program, folder, count)
        yield from _read_pairs(folder, count)
    finally:
        remove_folder(folder)


def find_eflomal() -> Path:
    """Return the path of eflomal, from its Python package or else on PATH.  Raises InputError if it is missing."""
    package = importlib.util.find_spec("eflomal")  # does not import the package
    folders = package.submodule_search_locations if package else None
    on_path = shutil.which("eflomal")
    places = [*(Path(folder) / "bin/eflomal" for folder in folders or ()), Path(on_path or "")]
    for path in places:
        if path.is_file():
            return path
    raise InputError(
        "the program eflomal, which aligns words, is not here; pip install eflomal==2.0.0 (it is compiled, "
        "Debian: apt install gcc make), or leave out the key that needs it (shortlist, training.guided_alignment)"
    )


def _seeded_program(folder: Path, seed: int) -> Path:
    """Make a copy of eflomal that reads its random state from a file in its working folder, and that file."""
    original = find_eflomal()
    code = original.read_bytes()
    if code.count(URANDOM) != 1:
        raise InputError(
            f"{original}: seeds itself in an unknown way, so that its alignment could not be repeated; "
            "pip install eflomal==2.0.0"
        )
    program = folder / "eflomal"
    program.write_bytes(code.replace(URANDOM, b"\0" + RANDOM_STATE.encode() + b"\0"))
    program.chmod(0o700)
    state = (
        random.Random(seed).getrandbits(64) | 1
    )  # from 0, eflomal's generator would only give zeros
    (folder / RANDOM_STATE).write_bytes(state.to_bytes(8, "little"))
    return program


def _write_pairs(folder: Path, pairs: Iterable[Pair], vocabulary: int) -> int:
    """Write both sides in eflomal's format, "LENGTH WORD WORD …" lines; return the number of pairs."""
    header = f"{{:>20}} {vocabulary}\n"  # has space for the count, which is known at the end
    count = left_out = 0
    with (folder / "source").open("w") as sources, (folder / "target").open("w") as targets:
        files = (sources, targets)
        for file in files:
            file.write(header.format(0))
        for pair in pairs:
            fits = all(0 < len(side) <= LONGEST for side in pair)
            for file, side in zip(files, pair, strict=True):
                file.write(f"{len(side)} {' '.join(map(str, side))}\n" if fits else "0\n")
            count, left_out = count + 1, left_out + (not fits)
        for file in files:
            file.seek(0)
            file.write(header.format(count))
    logging.info("%s pairs to align, %s empty or too long", f"{count:,}", f"{left_out:,}")
    return count


def _run(program: Path, folder: Path, count: int) -> None:
    """Run both directions at once, each on one thread; several threads would use the random state in any order."""
    iterations = max(2, round(5000 / math.sqrt(count)))  # the formula of eflomal-align
    few = max(2, iterations // 4)
    options = f"-q -m 3 -n {SAMPLERS} -N {NULL_PRIOR} -1 {few} -2 {few} -3 {iterations}"
    command = [str(program.resolve()), *options.split(), "-s", "source", "-t", "target"]
    runs = []
    try:
        for name, option in DIRECTIONS.items():
            with (folder / f"{name}.log").open("wb") as log:
                runs.append(
                    subprocess.Popen(
                        [*command, option, name],
                        cwd=folder,
                        env={**os.environ, "OMP_NUM_THREADS": "1"},
                        stdin=subprocess.DEVNULL,
                        stdout=log,
                        stderr=log,
                    )
                )
        codes = [run.wait() for run in runs]
    except PermissionError as error:
        raise InputError(
            f"{folder}: programs may not run here; put the results where they may (no `noexec`)"
        ) from error
    finally:
        for run in runs:
            run.kill()
            run.wait()
    for name, code in zip(DIRECTIONS, codes, strict=True):
        if code:
            said = (folder / f"{name}.log").read_text(errors="replace").strip() or "it said nothing"
            reason = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
            raise InputError(
                f"eflomal {reason} ({said.splitlines()[-1]}); where memory or disk ran out, free some "
                "or align fewer pairs"
            )


def _read_pairs(folder: Path, count: int) -> Iterator[tuple[list[int], list[int], list[Link]]]:
    names = ["source", "target", *DIRECTIONS]
    for name in DIRECTIONS:
        with (folder / name).open("rb") as lines:
            found = sum(1 for _ in lines)
        if found != count:
            raise InputError(
                f"eflomal aligned {found:,} of {count:,} pairs ({name}); is the disk full?"
            )
    files = [(folder / name).open() for name in names]
    try:
        next(files[0]), next(files[1])  # skip the headers
        for source, target, forward, reverse in zip(*files, strict=True):
            links = grow_diag_final_and(_links(forward), _links(reverse))
            yield _words(source), _words(target), links
    finally:
        for file in files:
            file.close()


def _words(line: str) -> list[int]:
    return [int(word) for word in line.split()[1:]]


def _links(line: str) -> list[Link]:
    return [(int(i), int(j)) for i, j in (link.split("-") for link in line.split())]
