"""The order of tests, those of a GPU, fewer garbage collections, forks as workers, and public texts from a mirror."""

import gc
import os
from pathlib import Path

import pytest

from tests.forking import draw_in_a_fork, fork_workers
from weebill.corpus.origins import origin
from weebill.corpus.sources import Places
from weebill.files import exclusive_folder

gc.disable()  # until imports are done
# Trainings of tests repeat the shapes of small products, which oneDNN prepares for longer than it multiplies.
os.environ |= {"LRU_CACHE_CAPACITY": "1024", "ONEDNN_PRIMITIVE_CACHE_CAPACITY": "1024"}
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"  # threads sleep while they wait for each other
if not Path("/dev/nvidiactl").exists():
    os.environ["TRITON_INTERPRET"] = "1"  # Triton reads it when any test imports it

LONG = (  # slowest files, and folders with slow files, in this order
    *("workflow/test_run.py", "translation/search/test_fixed.py", "generation", "package"),
    *("runtime/test_translation.py", "translation/training", "workflow/test_bad_input.py"),
    *("translation/model/test_hugging_face_folder.py", "evaluation/quality", "corpus/cleaning"),
    *("workflow/test_languages.py", "workflow/test_rehearsal.py", "workflow/test_firefox.py"),
)


def pytest_collection_modifyitems(items):
    """Start the slowest files first, so that no worker waits for another at the end."""
    places = [Path(__file__).parent / name for name in LONG]
    order = {  # once per file: there are thousands of tests
        path: [place not in (path, *path.parents) for place in places]
        for path in {item.path for item in items}
    }
    items.sort(key=lambda item: order[item.path])


def pytest_collection_finish():
    """Collect garbage rarely, and not in the objects imported so far, which would take half a second."""
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def pytest_runtest_setup(item):
    """Skip a test that needs a CUDA device, without one."""
    if item.get_closest_marker("gpu"):
        import torch  # not for tests of other things

        if not torch.cuda.is_available():
            pytest.skip("no CUDA device")


@pytest.fixture(scope="session", autouse=True)
def syncs_return_at_once():
    """Do not wait for the disk: no test loses power, and `test_durable.py` tests the order of syncs."""
    with pytest.MonkeyPatch.context() as change:
        change.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def pictures_are_drawn_in_a_fork():
    """Keep Vega's threads out of this process, because its forks become Snakemake and jobs."""
    with pytest.MonkeyPatch.context() as change:
        draw_in_a_fork(change)
        yield


@pytest.fixture(scope="session")
def real_text(tmp_path_factory):
    """Return a function that gives the file of a public text by name, or skips the test without a mirror."""
    base = tmp_path_factory.getbasetemp()
    folder = (
        base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    ) / "texts"  # for all workers

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
    """Make workers that time models forks of the test's process."""
    fork_workers(monkeypatch)


@pytest.fixture
def whole_products():
    """Switch off TF32, which an earlier test may have set: it would round float32 products on a GPU."""
    import torch  # slow to import, and few tests need it

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    yield
    torch.set_float32_matmul_precision(before)
