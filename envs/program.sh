#!/usr/bin/env bash
# Build weebill-translate and libweebill, which need no Python:  envs/program.sh VENV [TARGET]
#
# TARGET: `here` builds into dist/program and shares objects with `make wheels` (build/core); `aarch64` uses a
# cross-compiler, if there is one, and builds into build/program/aarch64, with the test weebill-check.  The sources of
# two libraries are downloaded once from pip's index, and stay in build/program/libraries.
set -euo pipefail

cd "$(dirname "$0")/.."
venv=$(realpath -s -- "$1") target=${2:-here}
base=$PWD/build/program
libraries=$base/libraries folder=$PWD/build/core targets=(weebill weebill-translate)

if [ "$target" = aarch64 ] && ! command -v aarch64-linux-gnu-g++ >/dev/null; then
  echo "no cross-compiler aarch64-linux-gnu-g++ here (Debian: g++-aarch64-linux-gnu); nothing is built for Arm"
  exit
fi

if [ ! -e "$libraries/.complete" ]; then
  rm -rf "$libraries" && mkdir -p "$libraries"
  "$venv/bin/python" -m venv "$base/pip"
  "$base/pip/bin/pip" -q download --no-deps -d "$libraries" -r envs/program.txt
  (cd "$libraries" && tar xzf sentencepiece-*.tar.gz && "$venv/bin/python" -m zipfile -e nlohmann_json-*.whl .)
  touch "$libraries/.complete"
fi

options=(-G Ninja -DCMAKE_MAKE_PROGRAM="$venv/bin/ninja" -DWEEBILL_PYTHON=OFF -DWEEBILL_PROGRAM=ON -DCMAKE_BUILD_TYPE=Release
  -DPython_EXECUTABLE="$venv/bin/python" -DJSON="$libraries/nlohmann_json/include"
  -DSENTENCEPIECE="$(echo "$libraries"/sentencepiece-*/sentencepiece)")
installed=$PWD/dist/program
if [ "$target" = aarch64 ]; then
  folder=$base/aarch64 installed=$folder/installed
  options+=(-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++
    -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_RUNTIME_OUTPUT_DIRECTORY="$folder")
  targets+=(weebill-check)
fi
if ! "$venv/bin/cmake" -S runtime -B "$folder" "${options[@]}" &>"$base/$target.log"; then
  cat "$base/$target.log" >&2
  exit 1
fi
"$venv/bin/cmake" --build "$folder" --target "${targets[@]}"
"$venv/bin/cmake" --install "$folder" --component Unspecified --prefix "$installed" >/dev/null
echo "$installed/bin/weebill-translate: $(stat -c %s "$installed/bin/weebill-translate") bytes"
