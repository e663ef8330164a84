"""Write the pairs of the cleaned corpora that remain after one stage of cleaning (rule cleaning_stage)."""

from weebill.workflow.job import job

from weebill.corpus.cleaning.clean import Cleaning
from weebill.corpus.cleaning.rules import Rules
from weebill.corpus.cleaning_stages import write_stage

if __name__ == "__main__":  # the worker processes import this file
    with job(snakemake.log[0]):
        write_stage(
            snakemake.input.corpora,
            snakemake.wildcards.stage,
            snakemake.output[0],
            tuple(snakemake.params.languages),
            snakemake.input.held_out,
            [
                Cleaning(rules=Rules(**rules), punctuation=snakemake.params.punctuation)
                for rules in snakemake.params.rules
            ],
        )
