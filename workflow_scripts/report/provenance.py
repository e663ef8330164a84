"""Let Snakemake write its report of a complete run; write no partial report (rule provenance)."""

from weebill.workflow.job import job

import os
import subprocess
import sys
from pathlib import Path

from weebill.errors import InputError
from weebill.files import atomic_path

# Snakemake parses the environment of every job, which has only plain values; libyaml does this ten times as fast.
SNAKEMAKE = """
import yaml
yaml.Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
from snakemake.cli import main
main()
"""

with job(snakemake.log[0]):
    params, output = snakemake.params, Path(snakemake.output[0])
    partial = output.with_name("provenance.partial.html")  # Snakemake requires the ending .html
    command = [sys.executable, "-c", SNAKEMAKE, "--report", str(partial), "--nolock"]
    command += ["--snakefile", params.snakefile]
    command += ["--configfile", *params.configfiles] if params.configfiles else []
    command += ["--config", *params.settings] if params.settings else []
    made = subprocess.run([*command, "--", *snakemake.input], stdin=subprocess.DEVNULL)
    if made.returncode:
        raise InputError(
            f"{output}: could not be made; see why in {snakemake.log[0]}, and run again"
        )
    with atomic_path(output) as whole:
        os.replace(partial, whole)
