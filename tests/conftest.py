"""The order of the tests, fewer searches for garbage, forks for workers, and public texts from a mirror."""

import gc
import os
from pathlib import Path

import pytest

from tests.forking import draw_in_a_fork, fork_workers
from weebill.corpus.origins import origin
from weebill.corpus.sources import Places
from weebill.files import exclusive_folder

gc.disable()  # until all is imported
if not Path("/dev/nvidiactl").exists():
    os.environ["TRITON_INTERPRET"] = "1"  # read when Triton is imported, which any test may cause

LONG = (  # files, and folders with files, that take the longest, by that
    *("workflow/test_run.py", "translation/search/test_fixed.py", "generation", "package"),
    *("runtime/test_translation.py", "translation/training", "workflow/test_bad_input.py"),
    *("translation/model/test_hugging_face_folder.py", "evaluation/quality", "corpus/cleaning"),
    *("workflow/test_languages.py", "workflow/test_rehearsal.py", "workflow/test_firefox.py"),
)


def pytest_collection_modifyitems(items):
    """Start the longest files first, so that no worker waits at the end for another one."""
    places = [Path(__file__).parent / name for name in LONG]
    order = {  # made once for each file: there are thousands of tests
        path: [place not in (path, *path.parents) for place in places]
        for path in {item.path for item in items}
    }
    items.sort(key=lambda item: order[item.path])


def pytest_collection_finish():
    """Search for garbage rarely, and not among all that is imported by now: that takes half a second."""
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def syncs_return_at_once():
    """Do not wait for the disk: no test loses power, and `test_durable.py` tests what is synced before what."""
    with pytest.MonkeyPatch.context() as change:
        change.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def pictures_are_drawn_in_a_fork():
    """Keep the threads of Vega out of this process, whose forks become Snakemake and its jobs."""
    with pytest.MonkeyPatch.context() as change:
        draw_in_a_fork(change)
        yield


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


@pytest.fixture
def forked_workers(monkeypatch):
    """Let workers that time models be forks of the test's process."""
    fork_workers(monkeypatch)


@pytest.fixture
def whole_products():
    """Let no earlier test's TF32 round the products in float32 on a GPU."""
    import torch  # slow to import, and few tests need it

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    yield
    torch.set_float32_matmul_precision(before)
