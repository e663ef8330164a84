"""Alignment by eflomal: links of a known language, repeatability and failures; symmetrization and counts.

grow-diag-final-and is compared with the published pseudo-code, and counted links with a plain loop.
"""

import os
import random
from collections import Counter
from pathlib import Path

import pytest

from weebill.corpus import alignment
from weebill.corpus.alignment import (
    NEIGHBOURS,
    _iterations,
    align,
    count_links,
    find_eflomal,
    grow_diag_final_and,
)
from weebill.errors import InputError

WORDS = 40


def available() -> bool:
    try:
        return find_eflomal().is_file()
    except InputError:
        return False


needs_eflomal = pytest.mark.skipif(
    not available(), reason="the program eflomal is not installed (pip install eflomal==2.0.0)"
)


def reversed_language(count=300, seed=5):
    """Return pairs of random sentences and translations: word w becomes 79 − w, and the order is reversed."""
    draw = random.Random(seed)
    sources = [[draw.randrange(WORDS) for _ in range(draw.randint(1, 8))] for _ in range(count)]
    return [(source, [WORDS + WORDS - 1 - word for word in reversed(source)]) for source in sources]


@needs_eflomal
def test_the_links_of_a_known_language_are_found(tmp_path):
    pairs = reversed_language()
    aligned = list(align(pairs, 2 * WORDS, seed=1, work=tmp_path / "work"))
    assert [(source, target) for source, target, _ in aligned] == pairs
    right = total = 0
    for source, target, links in aligned:
        right += sum(source[i] + target[j] == 2 * WORDS - 1 for i, j in links)
        total += len(source)
    assert right > 0.95 * total


@needs_eflomal
def test_the_work_folder_goes_and_a_killed_jobs_does_not_matter(tmp_path):
    def links():
        return list(align(reversed_language(40), 2 * WORDS, 1, tmp_path / "work"))

    expected = links()
    assert not list(tmp_path.iterdir())
    (tmp_path / "work").mkdir()
    for name in ("source", "forward", "eflomal"):
        (tmp_path / "work" / name).write_text("left behind\n")
    assert links() == expected
    assert not list(tmp_path.iterdir())


@needs_eflomal
def test_the_seed_decides_the_links(tmp_path, monkeypatch):
    draw = random.Random(3)
    words = [[draw.randrange(9) for _ in range(12)] for _ in range(120)]
    pairs = list(
        zip(words[:60], words[60:], strict=True)
    )  # no words belong together: chance decides

    def links(seed):
        return [found for _, _, found in align(pairs, 9, seed, tmp_path / "work")]

    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    monkeypatch.setattr(alignment, "_iterations", lambda *_: 200)
    assert links(1) == links(1)
    assert links(1) != links(2)


@needs_eflomal
def test_small_corpora_and_long_lines_take_no_minutes():
    """Iterations follow eflomal-align's formula for 7,000 pairs or more; limits are about 5 and 30 seconds."""
    assert [_iterations(count, 400 * count) for count in (10_000, 10**6)] == [50, 5]
    assert _iterations(500, 500 * 30 * 30) == 66  # the formula gives 224: half a minute
    assert _iterations(4, 4 * 1000 * 1000) == 50  # the formula gives 2,500: minutes
    assert _iterations(100, 100 * 1000 * 1000) == 5 and _iterations(1, 0) == 5000


def test_empty_and_very_long_sides_have_no_links(tmp_path):
    pairs = [*reversed_language(50), ([], [1]), ([1], []), ([1] * 1024, [2] * 1024), ([1], [2])]
    aligned = list(align(pairs, 2 * WORDS, seed=1, work=tmp_path / "work"))
    assert len(aligned) == len(pairs)
    assert [links for _, _, links in aligned[50:53]] == [[], [], []]


@needs_eflomal
def test_no_pairs_and_words_beyond_the_vocabulary_are_errors(tmp_path):
    with pytest.raises(InputError, match="no sentence pairs to align"):
        list(align([], 10, seed=1, work=tmp_path / "work"))
    with pytest.raises(InputError, match=r"eflomal ended with code 1 \(.*vocabulary size"):
        list(align([([3], [10])], 10, seed=1, work=tmp_path / "work"))


def test_a_missing_program_is_named_with_its_remedy(tmp_path, monkeypatch):
    monkeypatch.setattr(alignment.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError, match=r"eflomal.* is not here; pip install eflomal==2\.0\.0"):
        list(align([([1], [1])], 10, seed=1, work=tmp_path / "work"))


def program(folder: Path, script: str, monkeypatch) -> None:
    """Install a script in place of the aligner."""
    path = folder / "eflomal"
    path.write_text(f"#!/bin/sh\n{script}\n# \0/dev/urandom\0\n")
    path.chmod(0o755)
    monkeypatch.setattr(alignment.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)


def test_links_that_are_too_few_are_an_error(tmp_path, monkeypatch):
    program(tmp_path, "echo 0-0 > forward; echo 0-0 > reverse; exit 0", monkeypatch)
    with pytest.raises(InputError, match="eflomal aligned 1 of 2 pairs"):
        list(align([([1], [1]), ([2], [2])], 10, seed=1, work=tmp_path / "work"))


def test_a_killed_program_is_an_error(tmp_path, monkeypatch):
    program(tmp_path, "kill -9 $$", monkeypatch)
    with pytest.raises(InputError, match=r"killed by signal 9.*align fewer pairs"):
        list(align([([1], [1])], 10, seed=1, work=tmp_path / "work"))


def test_a_program_that_seeds_itself_otherwise_is_refused(tmp_path, monkeypatch):
    program(tmp_path, "exit 0", monkeypatch)
    (tmp_path / "eflomal").write_text("#!/bin/sh\nexit 0\n")
    with pytest.raises(InputError, match="seeds itself in an unknown way"):
        list(align([([1], [1])], 10, seed=1, work=tmp_path / "work"))


def as_written(forward, reverse):
    """Run the Moses manual's pseudo-code, word by word, over the whole matrix."""
    rows = 1 + max((i for i, _ in forward | reverse), default=-1)
    columns = 1 + max((j for _, j in forward | reverse), default=-1)
    links = forward & reverse

    def free_source(i):
        return all(link[0] != i for link in links)

    def free_target(j):
        return all(link[1] != j for link in links)

    added = True
    while added:
        added = False
        for i in range(rows):
            for j in range(columns):
                if (i, j) not in links:
                    continue
                for down, right in NEIGHBOURS:
                    new = i + down, j + right
                    if (
                        (free_source(new[0]) or free_target(new[1]))
                        and new in forward | reverse
                        and new not in links
                    ):
                        links.add(new)
                        added = True
    for direction in (forward, reverse):
        for i in range(rows):
            for j in range(columns):
                if free_source(i) and free_target(j) and (i, j) in direction:
                    links.add((i, j))
    return sorted(links)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
def test_random_links_give_what_the_written_algorithm_gives(share):
    """share: fraction of links that both directions have in common."""
    draw = random.Random(int(10 * share))
    differed = 0
    for _ in range(300):
        rows, columns = draw.randint(1, 9), draw.randint(1, 9)
        forward = {(draw.randrange(rows), j) for j in range(columns) if draw.random() < 0.8}
        reverse = {(i, draw.randrange(columns)) for i in range(rows) if draw.random() < 0.8}
        reverse |= {link for link in forward if draw.random() < share}
        found = grow_diag_final_and(forward, reverse)
        assert found == as_written(forward, reverse)
        differed += set(found) not in (forward & reverse, forward | reverse)
    assert differed > 100, "the cases ask for more than an intersection or a union"


@pytest.mark.parametrize(
    ("forward", "reverse", "expected"),
    [
        ({(0, 0), (1, 1)}, {(0, 0), (1, 1)}, [(0, 0), (1, 1)]),
        # (0, 1) is a neighbour with a free target; afterwards both words of (1, 1) are taken.
        ({(0, 0), (0, 1)}, {(0, 0), (1, 1)}, [(0, 0), (0, 1), (1, 1)]),
        # Far from the intersection, but both words are free: final adds it.
        ({(0, 0), (4, 3)}, {(0, 0), (2, 6)}, [(0, 0), (2, 6), (4, 3)]),
        # Far from the intersection, and one word is taken: final-and leaves it out.
        ({(0, 0), (0, 3)}, {(0, 0)}, [(0, 0)]),
        # Two links share a word: the forward link comes first.
        ({(3, 3)}, {(3, 5)}, [(3, 3)]),
        (set(), set(), []),
    ],
)
def test_by_hand(forward, reverse, expected):
    assert grow_diag_final_and(forward, reverse) == expected


PIECES = 12


def aligned_pairs(count=200):
    """Return random sentences with random links."""
    draw = random.Random(4)
    for _ in range(count):
        source = [draw.randrange(PIECES) for _ in range(draw.randint(0, 6))]
        target = [draw.randrange(PIECES) for _ in range(draw.randint(0, 6))]
        every = [(i, j) for i in range(len(source)) for j in range(len(target))]
        yield source, target, draw.sample(every, draw.randint(0, min(3, len(every))))


@pytest.mark.parametrize("buffer", [1, 7, 2**22])
def test_links_are_counted_as_by_a_loop(monkeypatch, buffer):
    monkeypatch.setattr(alignment, "BUFFER", buffer)
    expected, occurrences = Counter(), Counter()
    for source, target, links in aligned_pairs():
        expected.update((source[i], target[j]) for i, j in links)
        occurrences.update(target)
    links, counts, found = count_links(aligned_pairs(), PIECES)
    assert dict(zip(links.tolist(), counts.tolist(), strict=True)) == {
        source * PIECES + target: number for (source, target), number in expected.items()
    }
    assert found.tolist() == [occurrences[piece] for piece in range(PIECES)]
