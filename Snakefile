from snakemake.utils import min_version

min_version("9.0")

if not workflow.configfiles:  # the default, only where no --configfile is given

    configfile: "config/demo.yaml"


report: "report/workflow.rst"


include: "rules/common.smk"
include: "rules/run.smk"
include: "rules/environments.smk"


for stage in [
    "corpus",
    "vocabulary",
    "teacher",
    "distil",
    "student",
    "prune",
    "quantize",
    "evaluate",
    "report",
]:
    if (
        Path(workflow.basedir) / f"rules/{stage}.smk"
    ).exists():  # until all are written

        include: f"rules/{stage}.smk"


rule all:
    input:
        final_targets(),
