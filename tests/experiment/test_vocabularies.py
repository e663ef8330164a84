"""Names of vocabularies: one for both languages, or two, in both directions."""

import pytest

from weebill.experiment.vocabularies import vocabulary_files, vocabulary_parts, vocabulary_size

ENTRY = {"vocabulary": 8000}


@pytest.mark.parametrize(
    "section, size, reverse",
    [
        ({"joint": True}, "8000", "8000"),
        ({"joint": True, "size": 500}, "500", "500"),
        ({"joint": False}, "8000-8000", "8000-8000"),
        ({"joint": False, "size": 500}, "500-500", "500-500"),
        ({"joint": False, "size": 500, "source_size": 300}, "300-500", "500-300"),
    ],
)
def test_folders_tell_the_sizes(section, size, reverse):
    config = {"vocabulary": section}
    assert vocabulary_size(config, ENTRY) == size
    assert vocabulary_size(config, ENTRY, reverse=True) == reverse
    assert len(vocabulary_parts(size)) == len(vocabulary_files(config))


def test_each_file_has_its_sides():
    assert vocabulary_parts("500") == [(500, ("source", "target"))]
    files = vocabulary_files({"vocabulary": {"joint": False}})
    parts = dict(zip(files, vocabulary_parts("300-500"), strict=True))
    assert parts == {"vocab.spm": (500, ("target",)), "source.spm": (300, ("source",))}
