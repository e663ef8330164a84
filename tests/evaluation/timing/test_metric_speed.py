"""What metrics are timed on: files that are read, and candidates that are made of them."""

import pytest

from weebill.errors import InputError
from weebill.evaluation.timing.metric_speed import Text


@pytest.fixture
def files(tmp_path):
    names = ("source", "reference", "one", "two")
    for name in names:
        lines = [f"{name} says that {number}" for number in range(10)]
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [tmp_path / name for name in names]


@pytest.mark.parametrize(
    ("segments", "numbers"),
    [(None, range(10)), (3, (0, 3, 6)), (6, (0, 1, 3, 5, 6, 8)), (20, range(10))],
)
def test_segments_are_evenly_chosen_and_belong_together(files, segments, numbers):
    source, reference, *systems = files
    text = Text.read(source, reference, systems, segments)
    assert [line.split()[-1] for line in text.sources] == [str(number) for number in numbers]
    for lines in (text.references, *text.systems.values()):
        assert [line.split()[-1] for line in lines] == [str(number) for number in numbers]


def test_candidates_are_of_their_source(files):
    source, _, *systems = files
    found = Text.read(source, None, systems).candidates(2, 5)
    assert [one for one, _ in found] == ["source says that 0", "source says that 1"]
    for number, (_, translations) in enumerate(found):
        assert len(set(translations)) == 5
        assert translations[:2] == [f"one says that {number}", f"two says that {number}"]


def test_files_that_do_not_belong_together_are_named(files):
    source, reference, one, two = files
    with pytest.raises(InputError, match="one: named twice"):
        Text.read(source, reference, [one, two, one])
    two.write_text("a\nb\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"two: 2 lines, and .*source has 10"):
        Text.read(source, reference, [one, two], 2)
    source.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="source: has no lines"):
        Text.read(source, reference, [one])
