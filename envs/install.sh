#!/usr/bin/env bash
# Make the environment envs/NAME.txt as the virtual environment FOLDER:  envs/install.sh NAME FOLDER
# Build the engine, runtime/, into the environment main at FOLDER:        envs/install.sh runtime FOLDER
#
# uv installs, or pip if there is no uv.  PyTorch is the CPU build if it is available: from a folder in
# PIP_FIND_LINKS, or from PyTorch's own index if it answers.  TORCH_INDEX names another index (for example
# https://download.pytorch.org/whl/cu130 for GPUs), PYTHON another interpreter.
set -euo pipefail

name=$1 folder=$2
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
index=${TORCH_INDEX:-https://download.pytorch.org/whl/cpu}

if [ "$name" = bergamot ]; then
  suits='import sys; sys.exit(not (3, 7) <= sys.version_info[:2] <= (3, 10))'
  for python in "$python" python3.{10,9,8,7} ""; do "$python" -c "$suits" 2>/dev/null && break; done
  if [ -z "$python" ]; then
    echo "the environment bergamot needs Python 3.7 to 3.10; name one with PYTHON=/path/to/python3.10" >&2
    exit 1
  fi
else
"$python" - "$here/.." "$name" "$(realpath -ms -- "$folder")" <<'CHECK' || exit 1
import sys
if sys.version_info < (3, 11):
    sys.exit(f"Weebill needs Python 3.11 or newer, and {sys.executable} is "
             f"{sys.version.split()[0]}; name another with PYTHON=/path/to/python3.11")

if sys.argv[2] == "main" and sys.version_info >= (3, 13):
    sys.exit(f"the environment main needs Python 3.11 or 3.12, because KenLM does not compile on {sys.executable}, "
             f"which is {sys.version.split()[0]}; name another with PYTHON=/path/to/python3.12")

sys.path.insert(0, sys.argv[1])
from weebill.errors import InputError
from weebill.workflow.shell_paths import check_python

try:
    if sys.argv[2] == "main":  # environment of Snakemake; it calls the others by our paths
        check_python(f"{sys.argv[3]}/bin/python")
except InputError as error:
    sys.exit(str(error))
CHECK
fi

answers() {  # succeed if an index answers within a few seconds
  "$python" - "$1/torch/" <<'PROBE' 2>/dev/null
import sys, urllib.request
urllib.request.urlopen(sys.argv[1], timeout=5).close()
PROBE
}

options=(-r "$here/$name.txt")
if [ "$name" = runtime ]; then
  options=(--no-deps --no-build-isolation --force-reinstall "$here/../runtime" -C cmake.define.WEEBILL_SETS=here)
  export PATH="$folder/bin:$PATH"  # CMake and Ninja
elif [[ $name =~ ^(bicleaner|bergamot|pymarian)$ ]]; then
  options+=(--no-deps)  # bicleaner's lock replaces packages; of the others, only compiled modules are used
else
  if [ "$name" = openvino ]; then options+=(--no-deps); fi  # its lock leaves out a package
  if [ -n "${TORCH_INDEX:-}" ] || answers "$index"; then
    options+=(--extra-index-url "$index")  # an index for GPUs adds dependencies of PyTorch to the lock
  fi
fi

if command -v uv >/dev/null; then
  [ "$name" = runtime ] || uv venv --quiet --allow-existing --python "$python" "$folder"
  for place in ${PIP_FIND_LINKS:-}; do options+=(--find-links "$place"); done  # uv does not read PIP_FIND_LINKS
  install() { uv pip install --python "$folder/bin/python" --index-strategy unsafe-best-match "$@"; }
else
  [ "$name" = runtime ] || "$python" -m venv "$folder"
  install() { "$folder/bin/pip" install "$@"; }
fi

export MAX_ORDER=7  # longest n-gram of KenLM, if it is compiled here
install "${options[@]}"
if [ "$name" = main ]; then  # KenLM's programs (lmplz), which only this wheel has; and this project, editable
  install --no-deps bicleaner-hardrules==2.10.8
  install --no-deps --no-build-isolation -e "$here/.."
fi
sync -f "$folder" 2>/dev/null || sync  # before make records that it exists
