"""Fetch what the corpora are read from, and record or compare it: from the configuration into the lock file."""

from weebill.workflow.job import job

from weebill.corpus.sources import Places
from weebill.corpus.sources_lock import write_lock
from weebill.errors import key_path
from weebill.experiment.corpora import entries

with job(snakemake.log[0]):
    config = snakemake.config  # not the parameters: where files lie decides no row
    write_lock(
        snakemake.output[0],
        [(key_path(entry.path), entry.values, entry.monolingual) for entry in entries(config)],
        tuple(snakemake.params.languages),
        Places(config.get("local_dir"), config.get("download_cache")),
    )
