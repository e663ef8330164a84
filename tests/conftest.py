"""The order of the tests, fewer searches for garbage, and public texts from a mirror."""

import gc
import os
from pathlib import Path

import pytest

from weebill.corpus.origins import origin
from weebill.corpus.sources import Places
from weebill.files import exclusive_folder

WORKFLOW = Path(__file__).with_name("workflow")


def pytest_collection_modifyitems(items):
    """Start the workflow's tests first: they take the longest, and the other workers run the rest meanwhile."""
    items.sort(key=lambda item: WORKFLOW not in item.path.parents)


def pytest_collection_finish():
    """Leave all that is imported by now out of later searches for garbage: a full one takes half a second."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def real_text(tmp_path_factory):
    """Return a function from the name of a public text to its file; it skips the test if there is no mirror."""
    base = tmp_path_factory.getbasetemp()
    folder = (
        base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    ) / "texts"  # of all workers

    def made(name: str) -> Path:
        if not os.environ.get("WEEBILL_MIRROR"):
            pytest.skip("no real text: WEEBILL_MIRROR names no folder of originals")
        path = folder / name
        with exclusive_folder(folder / "one-at-a-time"):
            if not path.is_file():
                origin(name).make(path, Places(cache=str(folder / "originals")))
        return path

    return made
