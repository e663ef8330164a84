"""Public texts, made from their originals."""

from weebill.corpus.origins import origin
from weebill.experiment.origins import FOLDER


rule make_origin:
    """Fetch the originals of a public text, check them, and make the text."""
    output:
        FOLDER / "{text}",
    log:
        "data/logs/{text}.log",
    benchmark:
        "data/benchmarks/{text}.tsv"
    localrule: True  # cluster nodes rarely have a network
    conda:
        "../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
    params:
        definition=lambda w: (config["origins"].get(w.text) or origin(w.text).sha256),
        own=unrecorded(lambda w: config["origins"]),
        places=PLACES,
    script:
        "../workflow_scripts/corpus/make_origin.py"
