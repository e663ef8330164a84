"""Word alignment of sentence pairs by the program eflomal (Östling and Tiedemann 2016), and counts of its links.

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
from contextlib import ExitStack
from heapq import heapify, heappop, heappush
from pathlib import Path

import numpy as np

from weebill.errors import InputError
from weebill.files import remove_folder

Pair = tuple[Sequence[int], Sequence[int]]
Link = tuple[int, int]  # positions of a source word and a target word

LONGEST = 1023  # largest number of words in a sentence
# eflomal-align's formula gives corpora of less than 7,000 pairs more iterations than USUAL_ITERATIONS: 224 for 500
# pairs, 2,500 for four pairs.  We run as many of them as link LITTLE_WORK pairs of words in total, but at least
# USUAL_ITERATIONS; only if these would link more than MOST_WORK, which takes half a minute, we run fewer.
USUAL_ITERATIONS, FEWEST_ITERATIONS = 60, 5
LITTLE_WORK, MOST_WORK = 30_000_000, 200_000_000
SAMPLERS = 3  # independent samplers whose probabilities are averaged; eflomal-align's default
NULL_PRIOR = 0.2  # prior of a word without counterpart; eflomal-align's default
URANDOM = b"\0/dev/urandom\0"
RANDOM_STATE = "random_state"  # has as many characters as /dev/urandom
DIRECTIONS = {"forward": "-f", "reverse": "-r"}
BUFFER = 2**22  # links counted at once: 32 MB
# Horizontal and vertical neighbours come before diagonal ones.
NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def align(
    pairs: Iterable[Pair], vocabulary: int, seed: int, work: str | Path
) -> Iterator[tuple[list[int], list[int], list[Link]]]:
    """Yield source, target and links of every pair in order, symmetrized by grow-diag-final-and.

    pairs: words as numbers below `vocabulary`.  Pairs with an empty side, or a side of more than 1,023 words, get no
    links.  Text and links pass through files in the folder `work`, which is made at the start and removed at the end.
    Raises InputError if the program is missing or fails.
    """
    folder = Path(work)
    if folder.exists():  # from a killed job
        remove_folder(folder)
    folder.mkdir(parents=True)
    try:
        program = _seeded_program(folder, seed)
        count, work = _write_pairs(folder, pairs, vocabulary)
        if not count:
            raise InputError("there are no sentence pairs to align; look at the cleaning report")
        _run(program, folder, _iterations(count, work))
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
    """Write a file with a random state, and a copy of eflomal that reads this file in its working folder."""
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
    state = random.Random(seed).getrandbits(64) | 1  # with state 0, eflomal would draw only zeros
    (folder / RANDOM_STATE).write_bytes(state.to_bytes(8, "little"))
    return program


def _write_pairs(folder: Path, pairs: Iterable[Pair], vocabulary: int) -> tuple[int, int]:
    """Write both sides in eflomal's format, "LENGTH WORD WORD …" lines.

    Return the number of sentence pairs, and the work of an iteration as a number of word pairs.
    """
    header = f"{{:>20}} {vocabulary}\n"  # has space for the count, which is known at the end
    count = left_out = work = 0
    with (folder / "source").open("w") as sources, (folder / "target").open("w") as targets:
        files = (sources, targets)
        for file in files:
            file.write(header.format(0))
        for pair in pairs:
            fits = all(0 < len(side) <= LONGEST for side in pair)
            for file, side in zip(files, pair, strict=True):
                file.write(f"{len(side)} {' '.join(map(str, side))}\n" if fits else "0\n")
            count, left_out = count + 1, left_out + (not fits)
            work += len(pair[0]) * len(pair[1]) if fits else 0
        for file in files:
            file.seek(0)
            file.write(header.format(count))
    logging.info("%s pairs to align, %s empty or too long", f"{count:,}", f"{left_out:,}")
    return count, work


def _iterations(count: int, work: int) -> int:
    """Return eflomal-align's number of iterations, bounded for corpora with few pairs or long lines."""
    by_pairs = max(2, round(5000 / math.sqrt(count)))
    if by_pairs <= USUAL_ITERATIONS:
        return by_pairs
    affordable = max(USUAL_ITERATIONS, LITTLE_WORK // max(work, 1))
    return max(FEWEST_ITERATIONS, min(by_pairs, affordable, MOST_WORK // max(work, 1)))


def _run(program: Path, folder: Path, iterations: int) -> None:
    """Run both directions at once, each on one thread; several threads would use the random state in any order."""
    few = max(2, iterations // 4)
    options = f"-q -m 3 -n {SAMPLERS} -N {NULL_PRIOR} -1 {few} -2 {few} -3 {iterations}"
    command = [str(program.resolve()), *options.split(), "-s", "source", "-t", "target"]
    runs = []
    place = {"cwd": folder, "env": {**os.environ, "OMP_NUM_THREADS": "1"}}
    try:
        for name, option in DIRECTIONS.items():
            with (folder / f"{name}.log").open("wb") as log:
                streams = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
                runs.append(subprocess.Popen([*command, option, name], **place, **streams))
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
            message = f"eflomal aligned {found:,} of {count:,} pairs ({name}); is the disk full?"
            raise InputError(message)
    with ExitStack() as stack:
        files = [stack.enter_context((folder / name).open()) for name in names]
        next(files[0]), next(files[1])  # skip the headers
        for source, target, *directions in zip(*files, strict=True):
            forward, reverse = (
                [tuple(map(int, link.split("-"))) for link in line.split()] for line in directions
            )
            words = ([int(word) for word in line.split()[1:]] for line in (source, target))
            yield *words, grow_diag_final_and(forward, reverse)


def grow_diag_final_and(forward: Iterable[Link], reverse: Iterable[Link]) -> list[Link]:
    """Symmetrize two directed alignments of a sentence pair (Koehn et al. 2005); return the links in ascending order.

    First come the links that both directions have.  Then neighbours of links are added, if one direction has them and
    they join a word without a link; finally, links of either direction between two words without links are added.
    """
    forward, reverse = set(forward), set(reverse)
    links = forward & reverse
    single = forward ^ reverse  # links that may still be added
    if not single:
        return sorted(links)
    sources, targets = {i for i, _ in links}, {j for _, j in links}

    def add(link: Link) -> None:
        links.add(link)
        sources.add(link[0])
        targets.add(link[1])

    # Each link gets one turn to add its neighbours.  One turn is enough: words never lose their links, so a neighbour
    # that cannot be added now cannot be added later.  A pass visits links in order of source, then target position; a
    # new link before the current one waits for the next pass.
    turn, waiting = list(links), []
    heapify(turn)
    while turn:
        while turn:
            link = heappop(turn)
            for down, right in NEIGHBOURS:
                new = link[0] + down, link[1] + right
                if new in single and (new[0] not in sources or new[1] not in targets):
                    single.remove(new)
                    add(new)
                    heappush(turn if new > link else waiting, new)
        turn, waiting = waiting, []
    for direction in (forward, reverse):
        for i, j in sorted(direction & single):
            if i not in sources and j not in targets:
                add((i, j))
    return sorted(links)


def count_links(
    aligned: Iterable[tuple[Sequence[int], Sequence[int], Sequence[Link]]], vocabulary: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count the links of aligned pairs.

    Returns links (n,) as source·vocabulary + target, ascending; their counts (n,); and the number of times that each
    target piece occurs (vocabulary,).
    """
    links, counts = np.empty(0, np.int64), np.empty(0, np.int64)
    occurrences = np.zeros(vocabulary, np.int64)
    found: list[int] = []
    targets: list[int] = []

    def settle() -> None:
        nonlocal links, counts
        new, number = np.unique(np.array(found, np.int64), return_counts=True)
        merged, place = np.unique(np.concatenate([links, new]), return_inverse=True)
        total = np.zeros(len(merged), np.int64)
        np.add.at(total, place, np.concatenate([counts, number]))
        links, counts = merged, total
        np.add.at(occurrences, targets, 1)
        found.clear(), targets.clear()

    for source, target, pair_links in aligned:
        found += [source[i] * vocabulary + target[j] for i, j in pair_links]
        targets += target
        if len(found) >= BUFFER:
            settle()
    settle()
    return links, counts, occurrences
