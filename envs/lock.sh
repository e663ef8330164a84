#!/usr/bin/env bash
# Compile envs/main.txt from pyproject.toml, with extra `all` and group `dev`, with uv:  envs/lock.sh [OPTION…]
#
# Versions change only if they must; OPTIONs of `uv pip compile` change more: `--upgrade`, or `-P NAME`.
# PyTorch is the CPU build from the indexes of install.sh, which requires no packages for GPUs; TORCH is its version.
set -euo pipefail

cd "$(dirname "$0")/.."
command -v uv >/dev/null || { echo "envs/lock.sh: uv is not installed here; pip install uv" >&2; exit 1; }
lock=envs/main.txt
torch=${TORCH:-$(sed -n 's/^torch==//p' $lock)}
new=$(mktemp)
trap 'rm -f "$new"' EXIT

places=()
for place in ${PIP_FIND_LINKS:-}; do places+=(--find-links "$place"); done  # have PyTorch, so its index is not needed
[ -n "${places[*]}" ] || places=(--extra-index-url "${TORCH_INDEX:-https://download.pytorch.org/whl/cpu}")

sed 's/^torch==.*//' $lock > "$new"  # versions to keep
uv pip compile --quiet pyproject.toml --extra all --group dev --python-version 3.11 --constraint \
  <(echo "torch==$torch+cpu") --index-strategy unsafe-best-match "${places[@]}" --no-header --no-annotate \
  --no-emit-find-links --no-emit-index-url --no-emit-package weebill-runtime --output-file "$new" "$@"
{
  sed '/^#/!q' $lock | sed '$d'  # the comment at the head of the file
  sed 's/+cpu$//' "$new"
} > $lock.new
if cmp -s $lock.new $lock; then rm $lock.new; else mv $lock.new $lock; fi  # a newer file remakes all environments
