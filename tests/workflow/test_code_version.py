"""The fingerprint of the library follows what code does, not how it is documented."""

import os
import re
import time

import pytest

from weebill.errors import InputError
from weebill.workflow import code_version as module
from weebill.workflow.code_version import code_of, code_of_module, code_version


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


def test_what_was_read_is_remembered_until_it_changes(tmp_path, monkeypatch):
    """By size and time of change, but for files that were read just after they had changed."""
    read = []
    meaning = module._meaning
    monkeypatch.setattr(module, "_meaning", lambda file: read.append(file) or meaning(file))
    part = tmp_path / "part.py"

    def versions(text, seconds_ago):
        part.write_text(text)
        changed = time.time() - seconds_ago
        os.utime(part, (changed, changed))
        for _ in range(2):  # as two processes
            module._part_version.cache_clear(), module._known.cache_clear()
            yield module._part_version("part", tmp_path)

    first, again = versions("x = 1", 60)
    assert first == again and len(read) == 1
    assert len({first, *versions("x = 2", 30)}) == 2 and len(read) == 2
    assert len({*versions("x = 3", 0)}) == 1 and len(read) == 4
    (tmp_path / module.KNOWN).write_text("{")  # damaged
    assert len({*versions("x = 1", 60), first}) == 1


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


def test_the_fingerprint_of_a_script_follows_its_choices_and_what_a_shell_passes_to_it():
    """In any order; a choice is a module, or a name in it, of the library."""
    plain = code_of("prune/prune.py")
    chosen = code_of("prune/prune.py", "weebill.pruning.depth", "weebill.pruning.one_shot")
    named = code_of("prune/prune.py", "pruning.one_shot:OneShot", "pruning.depth:Depth")
    assert chosen == named
    assert re.fullmatch("code:[0-9a-f]{16}", chosen)
    shell = code_of("prune/prune.py", command="--seed 1")
    assert len({plain, chosen, shell, code_of("prune/prune.py", command="--seed 2")}) == 4


def test_the_fingerprint_of_modules_is_over_what_they_import():
    assert code_of_module("weebill.files") == code_of_module("weebill.files", "weebill.durable")
    assert code_of_module("weebill.files") != code_of_module("weebill.files", "weebill.bleu")


def test_unknown_scripts_and_choices_are_named():
    with pytest.raises(InputError, match=r"'workflow_scripts/prune/prun.py'.*did you mean"):
        code_of("prune/prun.py")
    with pytest.raises(InputError, match=r"'weebill.pruning.dept'.*did you mean"):
        code_of("prune/prune.py", "pruning.dept:Depth")
