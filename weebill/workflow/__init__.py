"""All that knows Snakemake: jobs, code fingerprints, lineage of results."""
