"""Alignment by eflomal: the links of a known language, repeatability, and failures."""

import os
import random
from pathlib import Path

import pytest

from weebill.corpus import alignment
from weebill.corpus.alignment import align, find_eflomal
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
    """Return pairs of a language and its translation, word 40 − w for w, in the opposite order."""
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
    assert links(1) == links(1)
    assert links(1) != links(2)


@needs_eflomal
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
    """Install a script in place of the program."""
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
