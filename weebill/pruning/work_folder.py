"""Folder for the unfinished work of a pruning."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weebill.files import claim_folder, exclusive_folder
from weebill.workflow.code_version import code_of_module

if TYPE_CHECKING:
    from weebill.pruning.study import Study


@contextmanager
def pruning_work(method: Any, study: "Study", work: Path) -> Iterator[None]:
    """Reserve the folder for this method and study within the context; method: a dataclass of settings.

    Files of a killed run of the same method and study stay.  The folder is emptied first if another method, study or
    code began it.
    """
    import torch

    with exclusive_folder(work):
        begun_by = {
            "method": type(method).__name__,
            "settings": asdict(method),
            "study": study.identity(),
            "code": code_of_module(__name__, type(method).__module__),
            "torch": torch.__version__,
        }
        claim_folder(work, "begun_by.json", begun_by)
        yield
