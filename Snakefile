from snakemake.utils import min_version

min_version("9.0")

if not workflow.configfiles:  # the default, only where no --configfile is given

    configfile: "config/demo.yaml"


report: "report/workflow.rst"


include: "rules/common.smk"


for stage in stages_present():

    include: f"rules/{stage}.smk"


rule all:
    input:
        final_targets(),
