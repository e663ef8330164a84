"""Collect what `make test-gpu` needs on a machine without a network: wheels for Python 3.12 on Linux, in .whl/.

python envs/carry.py

They are the packages of envs/gpu.txt and the engine's wheel, which `make wheels` leaves in dist/.  Large wheels are
packed again by LZMA, which pip reads too.  On the machine:

python3 -m pip install --no-index --no-deps --target /tmp/site .whl/*.whl
PYTHONPATH=/tmp/site make test-gpu
"""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from wheels import ROOT, interpreter

FOLDER = ROOT / ".whl"
ENGINE = "weebill_runtime-*-cp312-*.whl"
LARGE = 4 << 20  # bytes of a wheel that is packed again
LIMIT = 55 << 20  # bytes of all wheels


def main() -> int:
    """Make the folder anew; return 1 if it is too large to carry."""
    python = interpreter("3.12")
    engines = sorted((ROOT / "dist").glob(ENGINE))
    if python is None or not engines:
        sys.exit(
            "Python 3.12 and the engine's wheel for it are needed; `make wheels` builds the second"
        )
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    command = [python, "-m", "pip", "wheel", "-q", "--no-deps", "-w", FOLDER]
    subprocess.run([*map(str, command), "-r", str(ROOT / "envs/gpu.txt")], check=True)
    shutil.copy(engines[-1], FOLDER)
    for wheel in FOLDER.glob("*.whl"):
        if wheel.stat().st_size > LARGE:
            pack_again(wheel)
    size = sum(wheel.stat().st_size for wheel in FOLDER.glob("*.whl"))
    print(f"{FOLDER.relative_to(ROOT)}: {size / 2**20:.1f} MiB")
    return 1 if size > LIMIT else 0


def pack_again(wheel: Path) -> None:
    """Replace a wheel by one with the same files, packed by LZMA."""
    smaller = wheel.with_suffix(".partial")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(smaller, "w", zipfile.ZIP_LZMA) as new:
        for entry in old.infolist():
            made = zipfile.ZipInfo(entry.filename, entry.date_time)
            made.compress_type, made.external_attr = zipfile.ZIP_LZMA, entry.external_attr
            new.writestr(made, old.read(entry))
    smaller.replace(wheel)


if __name__ == "__main__":
    sys.exit(main())
