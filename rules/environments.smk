"""The environments that cannot live beside the main one, made for whatever target needs them."""


rule environment:
    """A virtual environment from envs/NAME.txt; with `--sdm conda`, Snakemake's own serve instead."""
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
