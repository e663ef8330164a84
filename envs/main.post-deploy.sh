#!/usr/bin/env bash
# Run by Snakemake in the finished conda environment: KenLM's programs (lmplz, build_binary) come in this wheel alone.
set -euo pipefail
python -m pip install --no-deps bicleaner-hardrules==2.10.8
# The engine of this version; Snakemake runs with the project on PYTHONPATH (weebill/workflow/repository.py).
python -m pip install --no-deps --no-build-isolation "${PYTHONPATH:-.}/runtime"
