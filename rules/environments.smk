"""Environments that conflict with the main one; each is made when a target needs it."""


rule environment:
    """Make a virtual environment from envs/NAME.txt; `--sdm conda` uses Snakemake's own environments instead."""
    output:
        touch(".venvs/{name}/.installed"),
    log:
        ".venvs/{name}.log",
    wildcard_constraints:
        name="comet|bicleaner",
    conda:
        "../envs/main.yaml"
    params:
        install=unrecorded(lambda w: str(REPOSITORY / "envs/install.sh")),
        versions=lambda w: versions_of(w.name),
    shell:
        "{params.install:q} {wildcards.name} .venvs/{wildcards.name} > {log:q} 2>&1"
