"""The environments that cannot live beside the main one, made for whatever target needs them."""


rule environment:
    """A virtual environment from envs/NAME.txt; with `--sdm conda`, Snakemake's own serve instead."""
    input:
        requirements=REPOSITORY / "envs" / "{name}.txt",
        install=REPOSITORY / "envs" / "install.sh",
    output:
        touch(".venvs/{name}/.installed"),
    log:
        ".venvs/{name}.log",
    wildcard_constraints:
        name="comet|bicleaner",
    conda:
        "../envs/main.yaml"
    shell:
        "{input.install:q} {wildcards.name} .venvs/{wildcards.name} > {log:q} 2>&1"
