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


def test_a_package_follows_its_modules_and_compiled_sources(tmp_path):
    package = tmp_path / "runtime"
    package.mkdir()
    (package / "kernel.cpp").write_text("int one() { return 1; }")
    before = module._part_version("runtime", tmp_path)
    (package / "kernel.cpp").write_text("int one() { return 2; }")
    module._part_version.cache_clear()
    assert module._part_version("runtime", tmp_path) != before


def test_order_of_parts_does_not_count():
    assert code_version("pruning", "corpus.table") == code_version("corpus.table", "pruning")


def test_unknown_part_is_named():
    with pytest.raises(InputError, match=r"prunning.*did you mean 'pruning'"):
        code_version("prunning")
