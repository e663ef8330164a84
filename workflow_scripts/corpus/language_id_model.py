"""Make the language identifier: trained on the embedded grammar, or fetched with its checksum."""

import shutil

from goldcrest.corpus.download import local_file
from goldcrest.corpus.language_id_training import train_language_id
from goldcrest.files import atomic_path
from goldcrest.job import job

with job(snakemake.log[0]), atomic_path(snakemake.output[0]) as partial:
    if snakemake.params.model == "synthetic":
        train_language_id(partial, seed=snakemake.params.seed)
    else:
        shutil.copyfile(local_file(snakemake.params.model, snakemake.params.sha256), partial)
