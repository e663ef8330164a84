"""A finished run of the tiny experiment, shared by several test modules."""

import shutil

import pytest


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """Return the folder of a finished run of the tiny experiment."""
    # Imported here: Snakemake loads slowly, and few modules need it.
    from tests.forking import fork_workers
    from tests.workflow.running import TINY, TRANSLATION, snakemake
    from weebill.evaluation.size import translation_size

    folder = tmp_path_factory.mktemp("undisturbed")
    with pytest.MonkeyPatch.context() as change:
        fork_workers(change)
        change.setattr(translation_size, "XZ_PRESET", 0)  # takes a sixth of the time
        run = snakemake(folder, TINY, "--cores", "2", imported=TRANSLATION)
    assert run.returncode == 0, run.stdout
    return folder


@pytest.fixture
def finished(undisturbed, tmp_path):
    """Return the folder of a copy of the finished run, which a test may change."""
    return shutil.copytree(undisturbed, tmp_path / "finished")
