"""Make the lexical shortlist of a vocabulary (rule make_shortlist; WNGT20 §5).

Align the distilled corpus piece by piece, and write the most likely target pieces of each source piece.
"""

from weebill.workflow.job import job

import logging

from weebill.runtime.lexical_table import make_shortlist
from weebill.runtime.shortlist import save_shortlist
from weebill_runtime.vocabulary import read_vocabulary

with job(snakemake.log[0]):
    shortlist = make_shortlist(
        snakemake.input.corpus,
        read_vocabulary(*snakemake.input.vocabulary),
        f"{snakemake.output[0]}.work",
        **snakemake.params.shortlist,
        seed=snakemake.params.seed,
    )
    save_shortlist(shortlist, snakemake.output[0])
    logging.info("%s candidates of all pieces", f"{(shortlist.candidates >= 0).sum():,}")
