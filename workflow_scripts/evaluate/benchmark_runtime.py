"""Compare the runtime's speed with CTranslate2's for shapes of the zoo, and write ratios (rule benchmark_runtime)."""

from weebill.workflow.job import job

from weebill.benchmarks import runtime
from weebill.evaluation.measurement import conditions
from weebill.files import write_json

if __name__ == "__main__":  # the worker processes import this file
    with job(snakemake.log[0]):
        settings = snakemake.params.settings
        names = settings["architectures"]
        rows = [*runtime.run(settings["rounds"], names, sentences=settings["sentences"])]
        if lines := settings.get("memory_sentences"):
            rows += runtime.run(1, names, sentences=lines, subjects=["memory"])
        write_json(
            snakemake.output[0],
            {
                "rows": [row.to_dict() for row in rows],
                "rounds": settings["rounds"],
                "sentences": settings["sentences"],
                **conditions(runtime.OPPONENTS),
            },
        )
