"""Fetch the files of a published student into one folder (rule fetch_published)."""

from weebill.workflow.job import job

import shutil

from weebill.corpus.download import base_name
from weebill.corpus.sources import Places, local_file
from weebill.files import atomic_folder

with job(snakemake.log[0]):
    places = Places(*snakemake.params.places)
    with atomic_folder(snakemake.output[0]) as folder:
        for address, digest in snakemake.params.files.items():
            shutil.copyfile(local_file(address, digest, places), folder / base_name(address))
