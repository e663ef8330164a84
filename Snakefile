from snakemake.utils import min_version

min_version("9.0")

if not workflow.configfiles:  # the default if no --configfile is given

    configfile: "config/demo.yaml"


include: "rules/common.smk"


report: f"report/{config['kind']}.rst"


include: "rules/environments.smk"
include: "rules/origins.smk"
include: "rules/report_files.smk"
include: f"rules/{config['kind']}.smk"
include: "rules/report.smk"
include: "rules/code.smk"
include: "rules/run.smk"


rule all:
    input:
        final_targets(),
