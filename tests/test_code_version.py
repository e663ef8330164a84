"""The fingerprint of the library follows what code does, not how it is documented."""

import pytest

from goldcrest import code_version as module
from goldcrest.code_version import code_version
from goldcrest.errors import InputError


def version(folder, text):
    (folder / "part.py").write_text(text)
    module._part_version.cache_clear()
    return module._part_version("part", folder)


def test_comments_and_docstrings_do_not_count(tmp_path):
    plain = version(tmp_path, "def double(x):\n    return 2 * x\n")
    said = version(
        tmp_path, '"""Doc."""\ndef double(x):\n    """Twice."""\n    return 2 *  x  # so\n'
    )
    other = version(tmp_path, "def double(x):\n    return 3 * x\n")
    assert plain == said
    assert plain != other


@pytest.mark.parametrize("name", ["kernel.cpp", "tables/nouns.tsv"])
def test_a_package_follows_its_compiled_sources_and_data(tmp_path, name):
    source = tmp_path / "runtime" / name
    source.parent.mkdir(parents=True)
    source.write_text("1")
    before = module._part_version("runtime", tmp_path)
    source.write_text("2")
    module._part_version.cache_clear()
    assert module._part_version("runtime", tmp_path) != before


def test_order_of_parts_does_not_count():
    assert code_version("pruning", "corpus.table") == code_version("corpus.table", "pruning")


def test_unknown_part_is_named():
    with pytest.raises(InputError, match=r"prunning.*did you mean 'pruning'"):
        code_version("prunning")
