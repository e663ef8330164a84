"""Copy the summary to the documentation (rule publish): the page, its figures, links between them mended."""

import shutil
from pathlib import Path

from goldcrest.files import write_text
from goldcrest.job import job

with job(snakemake.log[0]):
    page = Path(snakemake.input.summary).read_text(encoding="utf-8")
    folder = Path(snakemake.input.summary).parent
    for source, copy in zip(snakemake.input.figures, snakemake.output.figures, strict=True):
        shutil.copyfile(source, copy)
        link = Path(source).relative_to(folder).as_posix()
        page = page.replace(f"({link})", f"({snakemake.params.experiment}/{Path(copy).name})")
    write_text(snakemake.output.page, page)
