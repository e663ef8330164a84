"""Make the language identifier: train it on the embedded text, or fetch it and verify its checksum."""

from weebill.workflow.job import job

import shutil

from weebill.corpus.language_id_training import train_identifier
from weebill.corpus.sources import Places, local_file
from weebill.files import atomic_path

with job(snakemake.log[0]):
    path, params = snakemake.output[0], snakemake.params
    if params.model == "tatoeba":
        train_identifier(path)
    else:
        with atomic_path(path) as partial:
            found = local_file(params.model, params.sha256, Places(*params.places))
            shutil.copyfile(found, partial)
