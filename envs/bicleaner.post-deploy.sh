#!/usr/bin/env bash
# Run by Snakemake in the finished conda environment: packages that ask for what does not build (see bicleaner.txt).
set -euo pipefail
python -m pip install --no-deps bicleaner-ai==3.6 bicleaner-hardrules==2.10.8 fastspell==0.11.1 tf_keras==2.20.1
