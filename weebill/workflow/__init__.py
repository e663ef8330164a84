"""Code that depends on Snakemake: jobs, code fingerprints, lineage of results."""
