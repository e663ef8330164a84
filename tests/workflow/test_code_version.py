"""Fingerprints of scripts and modules; tests of `import_closure` check which files they cover."""

import re

import pytest

from weebill.errors import InputError
from weebill.workflow import code_version
from weebill.workflow.code_version import code_of, code_of_module


def test_the_fingerprint_of_a_script_follows_its_choices_and_what_a_shell_passes_to_it():
    """The order of the choices does not matter; a choice is a module of the library, or a name in a module."""
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


def test_modules_of_a_test_do_not_count():
    assert code_of_module("weebill.files", __name__) == code_of_module("weebill.files")


def test_what_scripts_reach_is_printed(capsys):
    code_version.print_closures()
    *rows, median = capsys.readouterr().out.splitlines()
    widths = {row.split()[1]: int(row.split()[0]) for row in rows}
    assert len(widths) > 80 and median.endswith(f"median of {len(widths)} scripts")
    code_version.print_closures("prune/head_map.py")
    *modules, script = capsys.readouterr().out.splitlines()
    assert "weebill.pruning.history" in modules and script == "workflow_scripts/prune/head_map.py"
    assert len(modules) == widths["prune/head_map.py"]
