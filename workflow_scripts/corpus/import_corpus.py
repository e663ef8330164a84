"""Import a corpus, a test set or the validation set: from whatever its entry names into a table."""

from weebill.workflow.job import job

from weebill.corpus.importers import import_corpus
from weebill.corpus.sources import Places
from weebill.corpus.sources_lock import locked_places

with job(snakemake.log[0]):
    # Not the parameters, which lack `local_dir`: where files lie decides no row.
    config, section, name = snakemake.config, snakemake.params.section, snakemake.params.name
    places = Places(config.get("local_dir"), config.get("download_cache"))
    for lock in snakemake.input.lock:
        places = locked_places(lock, places)
    import_corpus(
        snakemake.output[0],
        name,
        config[section] if section == "validation" else config[section][name],
        tuple(snakemake.params.languages),
        monolingual=snakemake.params.monolingual,
        shard_rows=snakemake.params.shard_rows,
        places=places,
    )
