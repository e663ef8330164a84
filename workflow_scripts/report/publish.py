"""Copy a page and its figures to the documentation, with adapted links (rules publish, publish_pruning)."""

from weebill.workflow.job import job

import shutil
from pathlib import Path

from weebill.files import atomic_path, write_text

with job(snakemake.log[0]):
    page = Path(snakemake.input.page).read_text(encoding="utf-8")
    folder, target = (Path(files.page).parent for files in (snakemake.input, snakemake.output))
    for source, copy in zip(snakemake.input.figures, snakemake.output.figures, strict=True):
        with atomic_path(copy) as partial:
            shutil.copyfile(source, partial)
        link = Path(source).relative_to(folder).as_posix()
        page = page.replace(f"({link})", f"({Path(copy).relative_to(target).as_posix()})")
    write_text(snakemake.output.page, page)
