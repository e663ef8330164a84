"""Import a corpus, a test set or the validation set from the source that its entry names, and write a table."""

from weebill.workflow.job import job

from weebill.corpus.importing import import_corpus, locked_places
from weebill.corpus.sources import Places

with job(snakemake.log[0]):
    params = snakemake.params
    places = Places(*params.places)
    for lock in snakemake.input.lock:
        places = locked_places(lock, places)
    import_corpus(
        snakemake.output[0],
        params.name,
        params.source,
        tuple(params.languages),
        monolingual=params.monolingual,
        shard_rows=params.shard_rows,
        places=places,
    )
