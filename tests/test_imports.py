"""Each start of the workflow imports only light modules, without libraries for training."""

import subprocess
import sys

import pytest

HEAVY = {"lightning", "pandas", "pyarrow", "torch", "transformers"}
LOAD = """
import importlib, pkgutil, sys
package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
    importlib.import_module(module.name)
print(*sys.modules)
"""


CATALOGUE = """
import sys
from weebill.report import catalogue
for kind in ("translation", "metric", "generation"):
    catalogue.all_items("tables", kind)
print(*sys.modules)
"""


def test_the_catalogue_of_the_report_is_light():
    run = subprocess.run([sys.executable, "-c", CATALOGUE], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert not HEAVY & set(run.stdout.split())


@pytest.mark.parametrize("package", ["configuration", "experiment", "workflow"])
def test_no_heavy_library_is_loaded(package):
    command = [sys.executable, "-c", LOAD, f"weebill.{package}"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert f"weebill.{package}" in loaded
    assert not HEAVY & loaded
