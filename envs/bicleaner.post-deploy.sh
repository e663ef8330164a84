#!/usr/bin/env bash
# Run by Snakemake in the finished conda environment: the packages whose pinned dependencies do not build.
set -euo pipefail
python -m pip install --no-deps bicleaner-hardrules==2.10.8 fastspell==0.11.1
